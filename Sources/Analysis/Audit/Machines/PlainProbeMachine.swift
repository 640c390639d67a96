package import Proxy
internal import TLS
package import Traffic

/// A server without TLS where TLS is due, or one for what a client says in cleartext after it was sent
/// there.
///
/// `@unchecked Sendable`: one task drives it, as `ProbeMachine` demands.
package final class PlainProbeMachine: AuditMachine, @unchecked Sendable {
    enum Kind: Sendable, Equatable {
        /// Answers whatever comes in HTTP.
        case http
        /// Refuses TLS, and takes whatever else comes.
        case refuseTLS
        /// Takes the request that a redirection led to.
        case followUp(FollowUpPlan)
        /// Says that a certificate is revoked.
        case status(StatusPlan)
        /// Takes a request that the probe has not led to, of a client that was shown it at a port.
        case unasked(besides: UInt16)

        /// Whether TLS is not to be expected.
        var isAside: Bool {
            switch self {
            case .http, .refuseTLS: false
            case .followUp, .status, .unasked: true
            }
        }
    }

    package let identifier: String
    package let patience: UInt64
    private let kind: Kind
    private let port: UInt16
    private var record: MachineRecord
    private var answer: AnswerMachine
    private var opening: [UInt8] = []
    private var hello: ClientHello?
    private var hasAnswered = false
    private var alerts: [AlertRecord] = []
    /// Of a request's path that is kept, in characters.
    private static let pathLimit = 1_024

    init(_ identifier: String, _ kind: Kind, _ configuration: ProbeMachineConfiguration) {
        self.identifier = identifier
        self.kind = kind
        port = configuration.port
        patience = configuration.patience
        record = MachineRecord(configuration)
        var reply = AnswerMachine.Reply.page
        if case .status(let plan) = kind { reply = .status(plan) }
        answer = AnswerMachine(configuration, reply: reply, alpn: nil)
    }

    // MARK: ProbeMachine

    package func receive(_ bytes: Span<UInt8>) {
        guard !record.isOver else { return }
        guard bytes.count > 0 else { return }
        let bytes = bytes.indices.map { bytes[$0] }
        if hasAnswered {
            noteAfterwards(bytes)
        } else if !kind.isAside, (opening.first ?? bytes.first) == RecordType.handshake {
            opening += bytes.prefix(ClientHelloReader.byteLimit - opening.count)
            receiveHello()
        } else {
            receivePlain(bytes)
        }
    }

    package func noteSilence() {
        guard !record.isOver else { return }
        let reply = answer.noteSilence()
        if record.seen.firstBytes.isEmpty || hasAnswered {
            record.seen.wasIdle = true
        } else {
            say(reply)
        }
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
        var made = TLSRecord(of: hello, nil, keyLog: [], chain: nil)
        made.alerts = alerts
        return made
    }

    // MARK: TLS

    private func receiveHello() {
        do {
            guard let hello = try ClientHelloReader.read(opening.span) else { return }
            self.hello = hello
        } catch {
            record.isOver = true
            return
        }
        record.seen.sawOpening = true
        record.seen.sentCertificate = true
        if kind == .refuseTLS {
            // Not as our own alert: that the client offers nothing is not what it says here.
            record.send(RecordType.record(RecordType.alert, [2, 40]))
            alerts.append(AlertRecord(sender: .tool, alert: 40))
            record.seen.hasDeclined = true
            record.isOver = true
        } else {
            say(answer.receive(Array("GET / HTTP/1.1\r\n\r\n".utf8)))
            hasAnswered = true
        }
    }

    /// What a client makes of HTTP where it wanted TLS.
    private func noteAfterwards(_ bytes: [UInt8]) {
        if bytes.count >= 7, bytes[0] == RecordType.alert, bytes[5] == 2 {
            alerts.append(AlertRecord(sender: .peer, alert: bytes[6]))
            record.seen.alert = bytes[6]
        } else if bytes[0] == RecordType.alert {
            // close_notify, with which some libraries give up.
            record.seen.hasDeclined = true
        } else if !(20...24).contains(bytes[0]) {
            record.hear(bytes, isProof: true)
            record.seen.proof = "the client went on in cleartext where it wanted TLS"
        }
        record.isOver = true
    }

    // MARK: Clear

    private func receivePlain(_ bytes: [UInt8]) {
        record.seen.sawOpening = true
        record.hear(bytes, isProof: !kind.isAside)
        let request = HTTPRequestView(record.seen.firstBytes)
        switch kind {
        case .status(let plan):
            if plan.isAsked(by: request) {
                record.seen.hasAskedForStatus = true
            } else {
                noteUnasked(request)
            }
        case .unasked(let shown):
            // What is spoken elsewhere may be encrypted in its own way, as SSH is.
            if request.state != .foreign || shown == port { noteUnasked(request) }
        case .followUp(let plan):
            record.seen.sentCertificate = true
            judge(request, plan)
        case .http, .refuseTLS:
            noteUnasked(request)
            record.seen.sentCertificate = true
            record.seen.proof = "the client sent its data in cleartext"
        }
        say(answer.receive(bytes))
        record.isOver = answer.isOver
    }

    /// Keeps what is asked for, without what may differ from one time to the next.
    private func noteUnasked(_ request: HTTPRequestView) {
        let start = record.seen.firstBytes
        if request.state == .partial, start.count < MachineRecord.keepLimit { return }
        // A message that cannot be read may be TLS all the same, or SSL 2.
        guard let first = start.first, first != RecordType.handshake, first < 0x80,
            !request.fetchesStatus
        else { return }
        let path = request.path.prefix { $0 != "?" }
        record.seen.clearRequest = "\(port) \(path.prefix(Self.pathLimit))"
    }

    /// Whether the request is the one that the client was sent for, and brings a secret along.
    private func judge(_ request: HTTPRequestView, _ plan: FollowUpPlan) {
        guard case .head = request.state else { return }
        guard request.target.hasSuffix(plan.path) else {
            record.seen.hasDeclined = true
            return
        }
        let cookies = request.values("cookie").joined(separator: ";")
        let hasCookie = plan.secureCookie.map { cookies.contains("sallyport=\($0)") } ?? false
        switch (plan.asksForSecret, !request.values("authorization").isEmpty, hasCookie) {
        case (false, _, _):
            record.seen.proof = "the client went on in cleartext after a redirection"
        case (true, true, _): record.seen.proof = "the client sent Authorization in cleartext"
        case (true, _, true): record.seen.proof = "the client sent a Secure cookie in cleartext"
        case (true, _, _): record.seen.hasDeclined = true
        }
    }

    private func say(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        record.keep(bytes, .response)
        record.send(bytes)
    }
}
