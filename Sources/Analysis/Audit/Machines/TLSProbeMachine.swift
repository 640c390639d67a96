package import Base
internal import Catalogue
internal import Findings
package import Proxy
internal import TLS
package import Traffic

/// A TLS server that shows a chain, misbehaves in the handshake as its probe demands, and answers
/// a client that speaks to it all the same.
///
/// `@unchecked Sendable`: one task drives it, as `ProbeMachine` demands.
package final class TLSProbeMachine: AuditMachine, @unchecked Sendable {
    package let identifier: String
    package let patience: UInt64
    package let followUp: FollowUpPlan?
    package private(set) var failure: Failure?

    private let configuration: ProbeMachineConfiguration
    private let plan: TLSProbePlan
    private var record: MachineRecord
    /// What came before the ClientHello was whole.
    private var opening: [UInt8] = []
    private var hello: ClientHello?
    private var session: TLSSession?
    private var records = ClientRecordReader()
    private var change: FlightChange?
    private var answer: AnswerMachine?
    private let plaintext = ByteBuffer(capacity: 16 * 1024)
    private var keyLog: [String] = []
    private var hasAskedAnew = false
    /// The reply that is held until the client has judged the second handshake.
    private var held: [UInt8] = []
    private var receivedCount = 0
    private var forgery: ForgedAnswerReader?
    /// The beginning of an alert.
    private var heldBack: [UInt8] = []
    /// Whether TLS has failed, and a client that began in cleartext is heard on: it may go back to that.
    private var isTornDown = false

    /// In bytes: a request of a megabyte is read to its end, and nobody is listened to for ever.
    private static let receivedLimit = 4 << 20

    init(
        _ identifier: String, _ plan: TLSProbePlan, _ configuration: ProbeMachineConfiguration,
        followUp: FollowUpPlan? = nil
    ) {
        self.identifier = identifier
        self.plan = plan
        self.configuration = configuration
        self.followUp = followUp
        patience = configuration.patience
        record = MachineRecord(configuration)
        change = plan.change.map { FlightChange($0) }
        if plan.behaviour == .injectAfterStartTLS {
            forgery = ForgedAnswerReader(configuration.upgrade)
        }
    }

    // MARK: ProbeMachine

    package func receive(_ bytes: Span<UInt8>) {
        guard !record.isOver else { return }
        let received = bytes.indices.map { bytes[$0] }
        receivedCount += received.count
        if receivedCount > Self.receivedLimit { return close() }
        records.receive(received)
        record.seen.outsideTLS = records.outside
        guard !isTornDown else { return }
        if records.types.contains(RecordType.heartbeat), change?.isMade == true {
            record.seen.proof = "the client answered a heartbeat that it was sent unasked"
        }
        let bytes = heldBack + received
        heldBack = []
        if session != nil {
            // Before the library looks at it, which gives up at the head of a record that it cannot
            // read, and what it says then is no word of the client's.
            if records.isInAlert {
                heldBack = bytes
                return
            }
            record.seen.alert = record.seen.alert ?? records.alert
        }
        guard session == nil else { return feed(bytes[...]) }
        let part = bytes.prefix(ClientHelloReader.byteLimit - opening.count)
        opening += part
        open(followedBy: bytes[part.endIndex...])
    }

    package func noteSilence() {
        guard !record.isOver else { return }
        if isTornDown {
            record.isOver = true
            return
        }
        if hasAskedAnew {
            if hasShownAnew {
                record.seen.proof = "the client stayed after it was shown the second certificate"
            } else {
                record.seen.hasDeclined = true
            }
            say(held)
        } else if record.seen.firstBytes.isEmpty {
            record.seen.wasIdle = true
        } else {
            // It waits for the answer that it was due, and has passed over the forged one.
            if let forgery {
                record.seen.hasDeclined = !forgery.isUnclear
                record.seen.wasIdle = forgery.isUnclear
            }
            say(answer?.noteSilence() ?? [])
        }
        close()
    }

    package func noteEnd(_ end: ProbeEnd) { record.noteEnd(end) }

    package func takeOutgoing() -> [UInt8] { record.takeOutgoing() }

    package var isOver: Bool { record.isOver }

    package func takePlaintext() -> [(direction: Direction, bytes: [UInt8])] {
        record.takePlaintext()
    }

    package var outcome: (outcome: ConnectionRecord.Outcome, cause: String) {
        failure.map { (.broken, $0.detail) } ?? record.outcome
    }

    package var observation: ProbeObservation { record.seen }

    package var tls: TLSRecord? {
        guard let hello else { return nil }
        var made = TLSRecord(
            of: hello, session, keyLog: keyLog,
            chain: record.seen.sentCertificate ? plan.chain : nil)
        if let alert = records.alert, !made.alerts.contains(where: { $0.sender == .peer }) {
            made.alerts.insert(AlertRecord(sender: .peer, alert: alert), at: 0)
        }
        return made
    }

    // MARK: Opening

    private func open(followedBy rest: ArraySlice<UInt8>) {
        do {
            guard let hello = try ClientHelloReader.read(opening.span) else { return }
            self.hello = hello
            record.seen.sawOpening = true
            if configuration.keepsOffer { record.seen.offer = ClientHelloOffer(hello.raw) }
            guard plan.isOffered(in: hello) else { return refuse(alert: 70) }
            var bytes = opening
            if plan.behaviour == .downgradeSentinel {
                guard let edited = ClientHelloEdit.withoutTLS13(hello.raw) else {
                    return refuse(alert: 70)
                }
                bytes = edited
            }
            try begin(hello)
            feed(bytes + rest)
        } catch let error as Failure {
            failure = error
            record.isOver = true
        } catch {
            // Not TLS, or nothing that a library would take for it.
            record.isOver = true
        }
    }

    private func refuse(alert: UInt8) {
        record.seen.ownAlert = alert
        record.send(RecordType.record(RecordType.alert, [2, alert]))
        record.isOver = true
    }

    private func begin(_ hello: ClientHello) throws(Failure) {
        let made = try ProbeTLSContext(plan.configuration(for: hello)).makeSession()
        made.incoming = ByteBuffer(capacity: 32 * 1024)
        made.outgoing = ByteBuffer(capacity: 64 * 1024)
        session = made
        opening = []
    }

    // MARK: Progress

    private func feed(_ bytes: ArraySlice<UInt8>) {
        guard let session, let incoming = session.incoming else { return }
        var rest = bytes
        repeat {
            incoming.compact()
            let step = rest.prefix(incoming.room)
            incoming.append(Array(step))
            rest = rest.dropFirst(step.count)
            advance(session)
            incoming.compact()
        } while !rest.isEmpty && !record.isOver && !isTornDown && incoming.room > 0
    }

    private func feed(_ bytes: [UInt8]) { feed(bytes[...]) }

    private func advance(_ session: TLSSession) {
        var goesOn = true
        while goesOn, !record.isOver {
            let isDone = record.seen.isHandshakeDone
            goesOn = isDone ? read(session) : shake(session)
            drain(session)
            note(session)
        }
    }

    private func shake(_ session: TLSSession) -> Bool {
        switch session.handshake() {
        case .wantRead: return false
        case .wantWrite: return true
        case .failed:
            isTornDown = configuration.upgrade != nil
            record.isOver = !isTornDown
            return false
        case .done:
            record.noteHandshakeDone()
            if session.parameters.isResumed { record.seen.sentCertificate = true }
            if plan.behaviour == .heartbeat { record.seen.hasDeclined = true }
            let made = AnswerMachine(
                configuration, reply: followUp.map { .redirect($0) } ?? .page,
                alpn: session.parameters.alpn)
            answer = made
            record.seen.hasGreeted = made.isGreeting
            say(made.greet())
            return true
        }
    }

    private func read(_ session: TLSSession) -> Bool {
        plaintext.removeAll()
        switch session.read(into: plaintext) {
        case .wantRead: return false
        case .wantWrite: return true
        case .bytes: hear(plaintext.copy)
        case .ended:
            if !record.seen.firstBytes.isEmpty, !hasAskedAnew {
                say(answer?.noteSilence() ?? [])
            }
            close()
            record.noteEnd(.closed)
        case .failed: record.isOver = true
        }
        return !record.isOver
    }

    private func hear(_ bytes: [UInt8]) {
        record.hear(bytes, isProof: plan.isSpeakingProof)
        if forgery != nil { return judgeForgery(bytes) }
        let reply = answer?.receive(bytes) ?? []
        guard plan.renegotiates else {
            say(reply)
            if answer?.isOver == true {
                if followUp != nil { record.seen.hasDeclined = true }
                close()
            }
            return
        }
        held += reply
        guard let session, let second = plan.second else { return }
        if hasShownAnew {
            record.seen.proof = "the client spoke after it was shown the second certificate"
        } else if !hasAskedAnew {
            hasAskedAnew = true
            if session.renegotiate(showing: second) {
                _ = session.handshake()
            } else {
                // TLS 1.2 was not spoken, or the second chain cannot be served.
                record.seen.ownAlert = 70
                close()
            }
        }
    }

    /// Whether the client goes on although nobody has answered its first command within TLS.
    private func judgeForgery(_ bytes: [UInt8]) {
        guard forgery?.receive(bytes) == true else { return }
        record.seen.proof = "the client took what came in cleartext for an answer within TLS"
        close()
    }

    /// Whether the second handshake is done.
    private var hasShownAnew: Bool {
        guard hasAskedAnew, let session else { return false }
        return session.messages.count { $0.isOurs && $0.type == MessageType.finished } > 1
    }

    // MARK: Output

    private func say(_ bytes: [UInt8]) {
        guard let session, !bytes.isEmpty else { return }
        record.keep(bytes, .response)
        let buffer = ByteBuffer(capacity: bytes.count)
        buffer.append(bytes)
        while session.write(buffer) == .wantWrite { drain(session) }
        drain(session)
    }

    private func close() {
        if let session {
            session.close()
            drain(session)
        }
        record.isOver = true
    }

    private func drain(_ session: TLSSession) {
        keyLog += session.takeKeyLog()
        guard let outgoing = session.outgoing, !outgoing.isEmpty else { return }
        let bytes = outgoing.copy
        outgoing.removeAll()
        record.send(change?.receive(bytes) ?? bytes)
    }

    // MARK: Notes

    private func note(_ session: TLSSession) {
        for message in session.messages { note(message) }
        record.seen.warnings = []
        for entry in session.alerts {
            let alert = entry.alert
            if entry.isOurs {
                if alert.isFatal, record.seen.alert == nil, records.outside.isEmpty {
                    record.seen.ownAlert = record.seen.ownAlert ?? alert.code
                }
            } else if alert.isFatal, alert.code != 0, alert.code != 90 {
                record.seen.alert = record.seen.alert ?? alert.code
            } else {
                record.seen.warnings.append(alert.code)
                if alert.code == 100 { record.seen.hasDeclined = true }
            }
        }
        // Who has changed keys cannot make sense of the record that follows, which is in cleartext.
        if plan.behaviour == .earlyChangeCipherSpec, let alert = record.seen.alert,
            alert == 20 || alert == 21
        {
            record.seen.proof = "the client changed keys before any were agreed"
        }
        let hasVersion = session.messages.contains { $0.isOurs && $0.type == 2 }
        if hasVersion { record.seen.version = session.parameters.version }
    }

    private func note(_ message: (isOurs: Bool, type: UInt8)) {
        switch (message.isOurs, message.type) {
        case (true, MessageType.certificate): record.seen.sentCertificate = true
        case (true, MessageType.serverHelloDone): record.seen.sentCertificate = true
        case (false, MessageType.clientKeyExchange):
            record.seen.sawClientFlight = true
            record.seen.proof = record.seen.proof ?? plan.proofByFlight
        case (false, MessageType.finished): record.seen.sawClientFlight = true
        default: break
        }
    }
}
