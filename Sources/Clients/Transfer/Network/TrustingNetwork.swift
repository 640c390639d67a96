package import Base
package import HTTPClient
package import Origins
package import Sockets
internal import TLS

/// Transfers over a client for each set of certificates that tasks name, since what one task trusts
/// is not to be trusted for another one.
///
/// `@unchecked Sendable`: used on its loop.
package final class TrustingNetwork: TransferNetwork, @unchecked Sendable {
    private let loop: EventLoop
    private let make: (ClientConfiguration) -> HTTPClient
    private let background = BackgroundTasks()
    /// By the bytes of the certificates' file, which may change while its path does not.
    private var clients: [[UInt8]: (network: ClientNetwork, end: LoopWakeup)] = [:]

    /// - Parameter make: makes a client on the loop.
    package init(on loop: EventLoop, _ make: @escaping (ClientConfiguration) -> HTTPClient) {
        self.loop = loop
        self.make = make
    }

    /// Runs `body`, which may send requests.
    package func run<Result: Sendable>(
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        async let work: Void = background.run()
        do {
            let result = try await body()
            close()
            await work
            return result
        } catch {
            close()
            await work
            throw error
        }
    }

    private func close() {
        for client in clients.values { client.end.wake() }
        background.stop()
    }

    package func send(_ request: NetworkRequest) async throws(Failure) -> NetworkAnswer {
        try await network(request.authorities).send(request)
    }

    package func staysHere(_ location: OriginLocation) -> Bool {
        do throws(Failure) {
            return try network(nil).staysHere(location)
        } catch {
            return false
        }
    }

    private func network(_ authorities: String?) throws(Failure) -> ClientNetwork {
        let bytes: [UInt8]
        if let authorities {
            bytes = try Files.readRegular(authorities, byteLimit: Self.byteLimit)
        } else {
            bytes = []
        }
        if let client = clients[bytes] { return client.network }
        guard clients.count < Self.clientLimit else {
            throw Failure(
                "too-many-authorities", party: .client,
                "transfers trust more than \(Self.clientLimit) sets of certificates",
                hint: "put them into one file, or stop the daemon when they have ended")
        }
        var configuration = ClientConfiguration()
        if let authorities {
            configuration.authorities = try Certificate.authorities(inPEM: bytes, name: authorities)
        }
        let client = make(configuration)
        let end = LoopWakeup(loop)
        let network = ClientNetwork(client)
        clients[bytes] = (network, end)
        background.add { await client.run { _ = await end.wait(until: .max) } }
        return network
    }

    /// In bytes, of one file: larger than any system's.
    private static let byteLimit = 1 << 20
    private static let clientLimit = 16
}
