import Audit
import Base
import Catalogue
import Proxy
import Synchronization
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

/// Shows probes on no sockets, and keeps where each says what it saw.
final class ShownProbes: ProbePresenter {
    private let reports = Mutex<[@Sendable (ProbeObservation) -> Void]>([])

    /// One that every client takes, and one that none should.
    static var pair: [ProbeDescription] {
        var control = ProbeDescription(identifier: "control-good", family: .control)
        control.expectation = .accept
        return [control, ProbeDescription(identifier: "name-wrong-host", family: .name)]
    }

    func unaskedMachine(
        _ probe: ProbeDescription, for visit: ProbeVisit, besides destination: AuditDestination,
        report: @escaping @Sendable (ProbeObservation) -> Void
    ) -> any ProbeMachine {
        reports.withLock { $0.append(report) }
        return ShownProbe(identifier: probe.identifier)
    }

    func machine(
        _ probe: ProbeDescription, for visit: ProbeVisit,
        report: @escaping @Sendable (ProbeObservation) -> Void
    ) throws(Failure) -> (any ProbeMachine)? {
        reports.withLock { $0.append(report) }
        return ShownProbe(identifier: probe.identifier)
    }

    func soundMachine(
        _ control: ProbeDescription, for visit: ProbeVisit
    ) -> (any ProbeMachine)? {
        ShownProbe(identifier: control.identifier)
    }

    func proof(of destination: AuditDestination) -> String { destination.text }

    /// Where the probe that was shown last says what it saw.
    func takeReport() -> @Sendable (ProbeObservation) -> Void {
        reports.withLock { $0.removeLast() }
    }
}
