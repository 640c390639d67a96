internal import Base
internal import CaptureStore
internal import Proxy
internal import Recording
internal import Replay
internal import Sockets
internal import Synchronization
internal import TLS
internal import Traffic

/// A proxy that answers from a capture, with everything it needs.
final class ReplayService: Sendable {
    let authority: CertificateAuthority
    /// `nil` if nothing is recorded.
    let capturePath: String?
    let server: ProxyServer
    let shutdown = Shutdown()
    private let refusals: RefusalSink
    private let responder: TapeResponder
    private let writer: CaptureWriter?
    private let loops: EventLoops
    private let counts: (answers: Int, leftOut: Int)

    /// Reads the capture, opens the authority, and binds.
    init(_ arguments: ReplayArguments, _ environment: Environment) throws {
        authority = try arguments.proxy.authority.open(environment.variables)
        var options = arguments.options
        if let path = arguments.rules {
            options.rules = try ReplayRules(text: try Files.read(path).text)
        }
        let tape = try ReplayTape(
            try environment.openCapture(arguments.source), options: options,
            digests: ReplayDigests(
                makeSHA256: { RunningHash(.sha256) }, sha1: { Digests.sha1($0) }))
        counts = tape.counts
        let log = MissLog(environment, isJSON: arguments.isJSON)
        responder = TapeResponder(
            tape, fallsBack: arguments.fallback == .network, missed: log.tell)
        var plan = try arguments.proxy.plan()
        plan.responder = responder
        plan.findsProcesses = false
        // Nothing is passed through where there is no origin to pass it to.
        plan.disposition = DispositionRules()
        capturePath = arguments.proxy.capture
        writer = try capturePath.map { path throws(Failure) in
            try CaptureWriter(
                path: path, configuration: CaptureConfiguration(digest: Digests.sha256))
        }
        loops = try EventLoops(count: plan.loopCount)
        let numbers = RecordNumbers(
            connection: writer?.nextConnectionID ?? 1, exchange: writer?.nextExchangeID ?? 1)
        refusals = RefusalSink(writer)
        server = try ProxyServer(
            plan: plan, authority: authority, sink: refusals, numbers: numbers,
            loops: loops.all)
    }

    /// Why the capture can no longer be written, `nil` while it can.
    var failure: Failure? { writer?.failure }

    var missCount: Int { responder.missCount }

    var requestCount: Int { responder.requestCount }

    /// Whether something was asked, and no client went away without asking.
    var hasServedAll: Bool { requestCount > 0 && refusals.count == 0 }

    /// Lines for people at the end: why less was asked than they may think, and what to do about
    /// what was missed.
    var remarks: [String] {
        var lines: [String] = []
        if missCount > 0 {
            lines.append(
                "\(missCount) of \(requestCount) requests had no recorded answer")
        } else if requestCount == 0 {
            lines.append("no request came")
        }
        if refusals.count > 0 {
            lines.append(
                "on \(refusals.count == 1 ? "a connection" : "\(refusals.count) connections")"
                    + " the client refused the certificate; it has to trust"
                    + " \(authority.certificatePath)")
        }
        return lines
    }

    /// A line for people: how much there is to answer with.
    var summary: String {
        let rest = counts.leftOut > 0 ? "; \(counts.leftOut) without a response are left out" : ""
        return "\(counts.answers) recorded \(counts.answers == 1 ? "answer" : "answers")\(rest)\n"
    }

    /// Serves until `shutdown` is requested, and completes the capture.
    ///
    /// - Returns: whether every connection ended by itself.
    func run() async throws(Failure) -> Bool {
        ResidentCode.giveBack()
        let endedInOrder = await server.run(until: shutdown)
        if let writer { try writer.close() }
        loops.stop()
        return endedInOrder
    }
}

/// Counts the connections on which a client refused the certificate, and passes everything on to a
/// capture if one is wanted.
private final class RefusalSink: TrafficSink {
    private let capture: CaptureWriter?
    private let refused = Atomic(0)

    init(_ capture: CaptureWriter?) {
        self.capture = capture
    }

    var count: Int { refused.load(ordering: .relaxed) }

    func submit(_ events: [TrafficEvent]) {
        for case .connection(let record) in events where record.outcome == .clientRefused {
            // A connection is told of more than once, and ended once.
            if record.closedAt != nil { refused.wrappingAdd(1, ordering: .relaxed) }
        }
        capture?.submit(events)
    }

    var isCongested: Bool { capture?.isCongested ?? false }

    func whenRoom(_ resume: @escaping @Sendable () -> Void) {
        if let capture { capture.whenRoom(resume) } else { resume() }
    }
}

/// Tells on standard error of requests that have no answer.
private final class MissLog: Sendable {
    private let environment: Environment
    private let isJSON: Bool
    /// What to do is said once, however often it is missed.
    private let hints = Mutex<Set<String>>([])

    init(_ environment: Environment, isJSON: Bool) {
        self.environment = environment
        self.isJSON = isJSON
    }

    @Sendable func tell(_ miss: ReplayMiss) {
        do throws(Failure) {
            if isJSON {
                try environment.diagnostics.write(miss.json.line + [UInt8(ascii: "\n")])
            } else {
                try environment.note(miss.detail)
                let hint = miss.hint
                let isNew = hints.withLock { hints in
                    hints.count < Self.hintLimit && hints.insert(hint).inserted
                }
                if isNew { try environment.hint(hint) }
            }
        } catch {
            // Nobody listens; the client was told, and the exit code tells it again.
        }
    }

    /// Nobody reads more.
    private static let hintLimit = 100
}
