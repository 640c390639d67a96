internal import Base
internal import Launching
internal import Proxy
internal import Sockets
internal import TLS
internal import Transport

/// What a true origin presents, whatever it is worth: probes show it to clients.
enum OriginChain {
    /// Connects, takes the certificates, and leaves.
    ///
    /// Errors: `origin-unreachable`, `origin-handshake-failed`.
    static func fetch(
        _ origin: HostPort, on loop: EventLoop
    ) async throws(Failure) -> [Certificate] {
        let box = OneTimeBox<Result<[Certificate], Failure>>()
        await withTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: loop) {
                do throws(Failure) {
                    box.set(.success(try await ask(origin, on: loop)))
                } catch {
                    box.set(.failure(error))
                }
            }
        }
        return try await box.get().get()
    }

    private static func ask(
        _ origin: HostPort, on loop: EventLoop
    ) async throws(Failure) -> [Certificate] {
        let deadline = loop.now + 15_000
        let channel: Channel
        let addresses = try await Resolver().addresses(of: origin.host, port: origin.port)
        do throws(SystemError) {
            (channel, _) = try await Channel.connect(
                toFirstOf: addresses, on: loop, deadline: deadline)
        } catch {
            throw Failure(
                "origin-unreachable", party: .origin, "cannot connect to \(origin): \(error)")
        }
        defer { channel.close() }
        let context = TLSClientContext(versions: .modern, extraAuthorities: [])
        let name = SocketAddress(literal: origin.host, port: 0) == nil ? origin.host : nil
        let session = context.makeSession(
            verifying: origin.host, serverName: name, protocols: [], resumptionKey: "")
        let stream = TLSStream(channel, session: session)
        channel.readDeadline = deadline
        channel.writeDeadline = deadline
        do throws(StreamFailure) {
            try await stream.handshake()
        } catch {
            throw Failure(
                "origin-handshake-failed", party: .origin,
                "the handshake with \(origin) failed: \(error.detail)")
        }
        return session.peerChain.compactMap(Certificate.init(der:))
    }
}
