package import Base
package import Catalogue
package import Proxy
internal import Sockets
package import TLS

/// A probe as a host of a server that has something to say behind it.
package enum ProbeServer: Sendable {
    /// Its flaw is in TLS as the library speaks it: whoever takes it is served.
    case tls(ProbeTLSConfiguration)
    /// Its flaw is in the course of the handshake, or there is none; the machine answers by itself.
    case machine(any ProbeMachine)
}

extension ProbeDescription {
    /// Whether it can be shown by a host that waits for TLS, without knowing the client.
    package var isHost: Bool {
        switch behaviour {
        case .stripStartTLS, .injectAfterStartTLS, .preauthenticated, .redirectToHTTP,
            .redirectWithCredentials, .publishedList, .publishedAnswer, .resumeAfterRefusal:
            false
        default: trait == nil && !hasOwnAnchors && host == nil
        }
    }
}

extension ProbeBehaviour {
    /// Whether a library's server has it all, and goes on once the handshake is done.
    fileprivate var isOfConfiguration: Bool {
        switch self {
        case .serve, .gotoFail, .corruptCertificateVerify, .wrongFinished, .anonymous, .nullCipher,
            .tls10, .tls11, .tls12, .staticRSA, .smallGroup512, .smallGroup768, .smallGroup1024,
            .stapledGood, .stapledRevoked, .stapledStale:
            true
        default: false
        }
    }
}

extension CataloguePresenter {
    /// Whether a probe can be shown at a host.
    package func isPossible(_ probe: ProbeDescription, at host: String) -> Bool {
        // Nobody waits half a minute for a list.
        if probe.chain.contains(where: { $0.key == .rsa8192 }) { return true }
        do throws(Failure) {
            _ = try chain(of: probe, host)
            return true
        } catch {
            return false
        }
    }

    /// Makes a probe's host for one client.
    ///
    /// Errors: `probe-not-possible`, such as a wildcard for a name of one label.
    package func server(
        _ probe: ProbeDescription, for hello: ClientHello
    ) throws(Failure) -> ProbeServer {
        let host = hello.serverName ?? ""
        guard probe.behaviour.isOfConfiguration else {
            // Who asks, and where, plays no part.
            guard let nobody = SocketAddress(literal: "127.0.0.1", port: 0) else {
                throw Failure("probe-not-possible", party: .tool, "it is no host of TLS")
            }
            let visit = ProbeVisit(
                connection: 0, peer: nobody, listener: nobody, process: nil, host: host, port: 443,
                hello: hello)
            guard let machine = try machine(probe, for: visit, report: { _ in }) else {
                throw Failure("probe-not-possible", party: .tool, "it is no host of TLS")
            }
            return .machine(machine)
        }
        let plan = TLSProbePlan(
            behaviour: probe.behaviour, chain: try chain(of: probe, host), second: nil,
            ticketKey: [])
        var configuration = plan.configuration(for: hello)
        configuration.protocols = ["h2", "http/1.1"]
        return .tls(configuration)
    }
}
