internal import Proxy
internal import Traffic

/// A probe's machine that tells what was seen when its connection has ended.
final class ReportingMachine: ProbeMachine {
    private let machine: any AuditMachine
    private let report: @Sendable (ProbeObservation) -> Void

    init(_ machine: any AuditMachine, report: @escaping @Sendable (ProbeObservation) -> Void) {
        self.machine = machine
        self.report = report
    }

    func noteEnd(_ end: ProbeEnd) {
        machine.noteEnd(end)
        report(machine.observation)
    }

    var identifier: String { machine.identifier }
    var patience: UInt64 { machine.patience }
    var isOver: Bool { machine.isOver }
    var tls: TLSRecord? { machine.tls }
    var outcome: (outcome: ConnectionRecord.Outcome, cause: String) { machine.outcome }
    func receive(_ bytes: Span<UInt8>) { machine.receive(bytes) }
    func noteSilence() { machine.noteSilence() }
    func takeOutgoing() -> [UInt8] { machine.takeOutgoing() }
    func takePlaintext() -> [(direction: Direction, bytes: [UInt8])] { machine.takePlaintext() }
}
