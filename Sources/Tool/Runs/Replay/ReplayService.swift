package import Base
internal import CaptureStore
internal import DevicePage
package import Proxy
internal import Recording
package import Replay
package import Sockets
internal import Synchronization
package import TLS
package import Traffic

/// What a proxy that answers from a capture does.
package struct ReplayConfiguration: Sendable {
    package var proxy = ProxyOptions()
    package var options = ReplayOptions()
    /// Whether requests whose method, origin and path were not recorded go to the network.
    package var fallsBack = false

    package init() {}
}

/// A proxy that answers from a capture, with everything it needs.
package final class ReplayService: Sendable {
    package let authority: CertificateAuthority
    /// `nil` if nothing is recorded.
    package let capturePath: String?
    package let server: ProxyServer
    package let shutdown = Shutdown()
    package let events: RunEvents
    private let refusals: RefusalSink
    private let responder: ReplayResponder
    private let writer: CaptureWriter?
    private let loops: EventLoops
    package var counts: (answers: Int, leftOut: Int) { responder.counts }

    /// Reads the capture, opens the authority, and binds.
    package init(
        _ source: any TrafficSource, _ configuration: ReplayConfiguration,
        variables: [String: String], events: RunEvents = RunEvents()
    ) throws {
        self.events = events
        let options = configuration.proxy
        authority = try options.authority.open(variables)
        responder = try ReplayResponder(
            source, configuration.options, fallsBack: configuration.fallsBack,
            missed: { events.publish(.miss($0)) })
        var plan = try options.plan()
        plan.answer(by: responder)
        plan.wiring.page = DevicePage(
            authority.certificate, needsPassword: options.credentials != nil)
        plan.wiring.findsProcesses = false
        capturePath = options.capture
        writer = try capturePath.map { path throws(Failure) in
            try CaptureWriter(
                path: path, configuration: CaptureConfiguration(digest: Digests.sha256))
        }
        loops = try EventLoops(count: plan.wiring.loopCount)
        let numbers = RecordNumbers(
            connection: writer?.nextConnectionID ?? 1, exchange: writer?.nextExchangeID ?? 1)
        refusals = RefusalSink(EventSink(writer, events))
        server = try ProxyServer(
            plan: plan, authority: authority, sink: refusals, numbers: numbers,
            loops: loops.all)
    }

    /// Lets exchanges under way finish for a while, and ends.
    package func stop() { shutdown.request() }

    /// On how many connections the client refused the certificate.
    package var refusalCount: Int { refusals.count }

    /// Why the capture can no longer be written, `nil` while it can.
    package var failure: Failure? { writer?.failure }

    package var missCount: Int { responder.missCount }

    package var requestCount: Int { responder.requestCount }

    /// Whether something was asked, and no client went away without asking.
    package var hasServedAll: Bool { requestCount > 0 && refusals.count == 0 }

    /// Serves until `shutdown` is requested, and completes the capture.
    ///
    /// - Returns: whether every connection ended by itself.
    package func run() async throws(Failure) -> Bool {
        ResidentCode.giveBack()
        let endedInOrder = await server.run(until: shutdown)
        if let writer { try writer.close() }
        loops.stop()
        events.finish()
        return endedInOrder
    }
}

extension ReplayService {
    /// Lines for people at the end: why less was asked than they may think, and what to do about
    /// what was missed.
    package var remarks: [String] {
        var lines: [String] = []
        if missCount > 0 {
            lines.append(
                "\(missCount) of \(requestCount) requests had no recorded answer")
        } else if requestCount == 0 {
            lines.append("no request came")
        }
        if refusalCount > 0 {
            lines.append(
                "on \(refusalCount == 1 ? "a connection" : "\(refusalCount) connections")"
                    + " the client refused the certificate; it has to trust"
                    + " \(authority.certificatePath)")
        }
        return lines
    }

    /// A line for people: how much there is to answer with.
    package var summary: String {
        let rest = counts.leftOut > 0 ? "; \(counts.leftOut) without a response are left out" : ""
        return "\(counts.answers) recorded \(counts.answers == 1 ? "answer" : "answers")\(rest)\n"
    }
}

extension ProxyPlan {
    /// Puts a capture in the place of every origin.
    mutating func answer(by responder: ReplayResponder) {
        interceptors.append(responder)
        policy.passNothing()
    }
}

extension ProxyPolicy {
    /// Nothing is passed through where there is no origin to pass it to.
    mutating func passNothing() { disposition = DispositionRules() }
}

/// Counts the connections on which a client refused the certificate, and passes everything on to a
/// capture if one is wanted.
private final class RefusalSink: TrafficSink {
    private let sink: EventSink
    private let refused = Atomic(0)

    init(_ sink: EventSink) {
        self.sink = sink
    }

    var count: Int { refused.load(ordering: .relaxed) }

    func submit(_ events: [TrafficEvent]) {
        for case .connection(let record) in events where record.outcome == .clientRefused {
            // A connection is told of more than once, and ended once.
            if record.closedAt != nil { refused.wrappingAdd(1, ordering: .relaxed) }
        }
        sink.submit(events)
    }

    var isCongested: Bool { sink.isCongested }

    func whenRoom(_ resume: @escaping @Sendable () -> Void) {
        sink.whenRoom(resume)
    }
}
