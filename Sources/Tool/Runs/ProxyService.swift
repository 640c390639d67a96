package import Base
internal import CaptureStore
internal import DevicePage
package import Launching
package import Proxy
internal import Recording
package import Sockets
internal import Synchronization
package import TLS
package import Traffic

/// A proxy with everything it needs, started and stopped as one.
package final class ProxyService: RunService {
    package let authority: CertificateAuthority
    package let capturePath: String
    /// Where what is recorded begins, in a capture that may have been there before.
    package let firstRecords: FirstRecords
    package let server: ProxyServer
    package let shutdown = Shutdown()
    /// The content server beside it, which the proxy trusts.
    package let content: ContentService?
    /// Whether a capture answers in the place of every origin.
    private let hasResponder: Bool
    private let events: RunEvents
    private let writer: CaptureWriter
    private let loops: EventLoops
    private let numbers: RecordNumbers
    private let sink: EventSink
    private let isAbandoned = Atomic(false)

    /// Opens the authority and the capture, and binds.
    ///
    /// - Parameters:
    ///   - variables: those of the environment, which say where the tool keeps what lasts.
    ///   - events: told of what passes.
    ///   - responder: what answers in the place of every origin; `nil` for the network.
    ///   - captured: the sockets of a namespace whose clients come in there; `nil` for none.
    package init(
        _ options: ProxyOptions, variables: [String: String], events: RunEvents = RunEvents(),
        responder: ReplayResponder? = nil, captured: CapturedPorts? = nil
    ) throws(Failure) {
        authority = try options.authority.open(variables)
        var plan = try options.plan()
        hasResponder = responder != nil
        if let responder { plan.answer(by: responder) }
        plan.wiring.page = DevicePage(
            authority.certificate, needsPassword: options.credentials != nil)
        if let captured {
            plan.wiring.ports += captured.ports
            plan.wiring.captured = captured.network
        }
        capturePath = options.capture ?? Self.freshCapturePath()
        writer = try CaptureWriter(
            path: capturePath, configuration: CaptureConfiguration(digest: Digests.sha256))
        loops = try EventLoops(count: plan.wiring.loopCount)
        self.events = events
        let all = loops.all
        content = try options.content.map { options throws(Failure) in
            try ContentService(options, variables: variables, loops: all, isBesideProxy: true)
        }
        if let content {
            plan.policy.trust(content)
            plan.wiring.hosted = content.zone
        }
        firstRecords = FirstRecords(
            connection: writer.nextConnectionID, exchange: writer.nextExchangeID)
        numbers = RecordNumbers(
            connection: firstRecords.connection, exchange: firstRecords.exchange)
        sink = EventSink(writer, events)
        server = try ProxyServer(
            plan: plan, authority: authority, sink: sink, numbers: numbers,
            loops: all)
    }

    /// Serves the connections that come in from now on as `options` say; those that are open go on as
    /// they began. What a proxy is wired to stays: its ports, versions of TLS, limits of heads and
    /// loops, CA and capture.
    ///
    /// - Returns: the number of the policy, which each of its connections records.
    ///
    /// Errors: those of the files that the options name; the policy stays then as it was.
    @discardableResult
    package func exchange(_ options: ProxyOptions) throws(Failure) -> Int64 {
        var policy = try options.policy()
        if hasResponder { policy.passNothing() }
        if let content { policy.trust(content) }
        return server.exchange(policy)
    }

    /// Lets exchanges under way finish for a while, and ends.
    package func stop() { shutdown.request() }

    /// Stops, and removes the capture if nothing is recorded in it: what it was started for failed.
    package func abandon() {
        isAbandoned.store(true, ordering: .relaxed)
        stop()
    }

    /// How many of both have ended.
    package var counts: (connections: Int64, exchanges: Int64) { sink.counts }

    /// Why the capture can no longer be written, `nil` while it can.
    package var failure: Failure? { writer.failure }

    /// Records a connection that did not come to the proxy, but was seen, with its messages.
    package func record(_ make: (_ id: Int64) -> [TrafficEvent]) {
        writer.submit(make(numbers.nextConnection()))
    }

    /// Serves until `shutdown` is requested, and completes the capture.
    ///
    /// - Parameter finally: called when the last connection has ended, for what is still to be
    ///   recorded.
    /// - Returns: whether every connection ended by itself.
    ///
    /// Errors: `capture-write-failed`.
    package func run(finally: () async -> Void = {}) async throws(Failure) -> Bool {
        ResidentCode.giveBack()
        let endedInOrder = await withTaskGroup(of: Bool.self) { group in
            if let content { group.addTask { await content.run() } }
            let ended = await server.run(until: shutdown)
            content?.stop()
            return await group.reduce(ended) { $0 && $1 }
        }
        await finally()
        if isAbandoned.load(ordering: .relaxed) { writer.abandon() }
        try writer.close()
        loops.stop()
        events.finish()
        return endedInOrder
    }

    /// A capture in the current folder that is not there yet, named for the time.
    static func freshCapturePath() -> String {
        let time = Timestamp.now().rfc3339.prefix(19).filter { $0 != ":" }
        var path = "\(time).sallyport"
        var number = 2
        while Files.exists(path) {
            path = "\(time)-\(number).sallyport"
            number += 1
        }
        return path
    }
}

extension ProxyPolicy {
    /// Trusts the content server beside the proxy.
    fileprivate mutating func trust(_ content: ContentService) {
        originTrust.extraAuthorities.append(content.authority.certificate)
    }
}
