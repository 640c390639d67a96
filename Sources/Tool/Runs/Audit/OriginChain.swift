internal import Base
internal import Launching
internal import Origins
internal import Proxy
internal import Sockets
internal import TLS
internal import Traffic

/// What a true origin presents, whatever it is worth: probes show it to clients.
enum OriginChain {
    /// Connects, takes the certificates, and leaves.
    ///
    /// Errors: those of names, `connect-failed`, `connect-timed-out`, `origin-handshake-failed`.
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
        let origins = OriginConnector(OriginConfiguration(), on: loop, resolver: Resolver())
        let target = OriginTarget(isSecure: true, host: origin.host, port: origin.port)
        do throws(OriginFailure) {
            let leg = try await origins.open(
                target, target.serverName, .protocols([]), .everywhere)
            defer { leg.close() }
            return (leg.tls?.chain ?? []).compactMap(Certificate.init(der:))
        } catch {
            throw error.failure
        }
    }
}
