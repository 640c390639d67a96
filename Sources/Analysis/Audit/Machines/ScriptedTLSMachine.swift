internal import Base
internal import Catalogue
package import Proxy
internal import TLS
package import Traffic

/// A server of TLS 1.2 that leaves messages out, or sends one too many; it has no keys to encrypt
/// with, and says all in cleartext.
///
/// A client that goes on, in whatever way, has taken a handshake that it must break off.
///
/// `@unchecked Sendable`: one task drives it, as `ProbeMachine` demands.
package final class ScriptedTLSMachine: AuditMachine, @unchecked Sendable {
    package let identifier: String
    package let patience: UInt64
    private let behaviour: ProbeBehaviour
    private let chain: PresentedChain
    private var record: MachineRecord
    private var waiting: [UInt8] = []
    private var hello: ClientHello?
    private var alerts: [AlertRecord] = []

    init(
        _ identifier: String, _ behaviour: ProbeBehaviour, _ chain: PresentedChain,
        _ configuration: ProbeMachineConfiguration
    ) {
        self.identifier = identifier
        self.behaviour = behaviour
        self.chain = chain
        patience = configuration.patience
        record = MachineRecord(configuration)
    }

    // MARK: ProbeMachine

    package func receive(_ bytes: Span<UInt8>) {
        guard !record.isOver else { return }
        let room = ClientHelloReader.byteLimit - waiting.count
        waiting += (0..<min(room, bytes.count)).map { bytes[$0] }
        if hello == nil { open() } else { follow() }
    }

    package func noteSilence() {
        guard !record.isOver else { return }
        record.seen.wasIdle = true
        record.isOver = true
    }

    package func noteEnd(_ end: ProbeEnd) { record.noteEnd(end) }
    package func takeOutgoing() -> [UInt8] { record.takeOutgoing() }
    package var isOver: Bool { record.isOver }
    package var observation: ProbeObservation { record.seen }

    package func takePlaintext() -> [(direction: Direction, bytes: [UInt8])] {
        record.takePlaintext()
    }

    package var outcome: (outcome: ConnectionRecord.Outcome, cause: String) { record.outcome }

    package var tls: TLSRecord? {
        guard let hello else { return nil }
        let hasShown = record.seen.sentCertificate && behaviour != .emptyCertificate
        var made = TLSRecord(of: hello, nil, keyLog: [], chain: hasShown ? chain : nil)
        made.alerts = alerts
        return made
    }

    // MARK: Script

    private func open() {
        do {
            guard let hello = try ClientHelloReader.read(waiting.span) else { return }
            self.hello = hello
            waiting = []
            record.seen.sawOpening = true
            let script = HandshakeScript(behaviour, chain, hello)
            guard let flight = script.flight() else {
                let alert: UInt8 = script.speaksTLS12 ? 40 : 70
                record.seen.ownAlert = alert
                alerts.append(AlertRecord(sender: .tool, alert: alert))
                record.send(RecordType.record(RecordType.alert, [2, alert]))
                record.isOver = true
                return
            }
            record.send(flight)
            record.seen.version = TLSVersion.tls12.name
            record.seen.sentCertificate = true
        } catch {
            record.isOver = true
        }
    }

    /// Looks at what the client makes of it.
    private func follow() {
        while !record.isOver, waiting.count >= 5 {
            let size = 5 + (Int(waiting[3]) << 8 | Int(waiting[4]))
            guard waiting.count >= size else {
                // A record that is longer than any may be is none.
                record.isOver = waiting.count >= ClientHelloReader.byteLimit
                return
            }
            judge(waiting[0], Array(waiting[5..<size]))
            waiting.removeFirst(size)
        }
    }

    private func judge(_ type: UInt8, _ content: [UInt8]) {
        switch type {
        case RecordType.alert where content.count == 2:
            let (level, code) = (content[0], content[1])
            alerts.append(AlertRecord(sender: .peer, alert: code, isFatal: level == 2))
            if level == 2, code != 0 {
                record.seen.alert = code
                record.isOver = true
            } else {
                record.seen.warnings.append(code)
            }
        case RecordType.handshake, RecordType.changeCipherSpec:
            record.seen.sawClientFlight = true
            prove("the client went on with a handshake that it has to break off")
        case RecordType.applicationData:
            record.hear(content, isProof: true)
            prove("the client sent data in a handshake that it has to break off")
        default: record.isOver = true
        }
    }

    private func prove(_ words: String) {
        record.seen.proof = words
        record.isOver = true
    }
}

extension AlertRecord {
    init(sender: Sender, alert: UInt8, isFatal: Bool = true) {
        self.init(
            sender: sender, fatal: isFatal, name: TLSAlert(isFatal: isFatal, code: alert).name)
    }
}
