import Audit
import Proxy
import Traffic

/// A probe's server on no socket: what it saw is made up.
final class ShownProbe: ProbeMachine {
    let identifier: String
    let patience: UInt64 = 1_000

    init(identifier: String) {
        self.identifier = identifier
    }

    func receive(_ bytes: Span<UInt8>) {}
    func noteSilence() {}
    func noteEnd(_ end: ProbeEnd) {}
    func takeOutgoing() -> [UInt8] { [] }
    var isOver: Bool { true }
    var tls: TLSRecord? { nil }
    func takePlaintext() -> [(direction: Direction, bytes: [UInt8])] { [] }
    var outcome: (outcome: ConnectionRecord.Outcome, cause: String) { (.completed, "") }

    /// Of a connection whose client took it.
    static var acceptance: ProbeObservation {
        var seen = refusal
        seen.alert = nil
        seen.isHandshakeDone = true
        seen.acceptedBytes = 1
        return seen
    }

    /// Of one whose client refused it with an alert.
    static var refusal: ProbeObservation {
        var seen = ProbeObservation()
        seen.sawOpening = true
        seen.sentCertificate = true
        seen.alert = 42
        seen.end = .closed
        return seen
    }
}
