package import Base
internal import CaptureStore
package import HTTPClient
package import Origins
internal import Recording
package import Replay
internal import Sockets
package import TLS
package import Traffic
package import Views

/// What a replay's client sends, and how.
package struct ReplayClientConfiguration: Sendable {
    package var pace = ReplaySchedule.Pace.windows
    /// The recorded times are multiplied by so many thousandths; `nil` for none.
    package var timing: Int64?
    package var destinations = ReplayDestinations()
    /// How many requests may be under way at once.
    package var concurrency = 64
    /// Stops when so many requests in a row had no answer; `nil` for never.
    package var stopAfter: Int64?
    /// Trusted besides the system's.
    package var authorities: [Certificate] = []
    /// What is shown to origins that ask for a certificate.
    package var identities: [OriginIdentity] = []
    package var versions = ClientVersions.auto
    /// The proxies that origins are reached through.
    package var upstreams: [UpstreamProxy] = []
    /// Where is recorded what is sent and answered; `nil` for nowhere.
    package var capture: String?

    package init() {}
}

/// The client of a replay, with everything it needs.
package final class ReplayClientService: Sendable {
    package let events: RunEvents
    private let writer: CaptureWriter?
    private let loops: EventLoops
    private let task: ReplayClientTask

    /// Opens the capture to write.
    ///
    /// Errors: those of the capture, `capture-not-empty`, and `no-event-loop`.
    package init(
        _ plan: ReplayPlan, _ configuration: ReplayClientConfiguration,
        from source: any TrafficSource, events: RunEvents = RunEvents()
    ) throws(Failure) {
        self.events = events
        var client = ClientConfiguration()
        client.upstreamHint = "give the login with --upstream-auth FILE"
        client.authorities = configuration.authorities
        client.identities = configuration.identities
        client.http = configuration.versions
        client.upstreams = configuration.upstreams
        writer = try configuration.capture.map { path throws(Failure) in
            try CaptureWriter(
                path: path, configuration: CaptureConfiguration(digest: Digests.sha256))
        }
        if let writer, let path = configuration.capture, writer.nextExchangeID > 1 {
            // What is compared with it would take those for answers of this replay.
            throw Failure(
                "capture-not-empty", party: .tool, "\(path) holds exchanges already",
                hint: "remove it, or name another file for what is answered now")
        }
        loops = try EventLoops(count: 1)
        let numbers = RecordNumbers(
            connection: writer?.nextConnectionID ?? 1, exchange: 1)
        let recorder = TrafficRecorder(sink: writer, numbers: numbers)
        let total = Int64(plan.entries.count)
        task = ReplayClientTask(
            plan, from: source, configuration,
            client: HTTPClient(client, on: loops.all[0], recorder: recorder), on: loops.all[0]
        ) { done in events.publish(.progress(done: Int64(done), total: total)) }
    }

    /// Sends nothing more; what is under way ends.
    package func stop() { stop(.signal) }

    /// Stops if the capture can no longer be written.
    package func stopIfUnrecorded() {
        if writer?.failure != nil { stop(.capture) }
    }

    private func stop(_ reason: ReplayClientReport.StopReason) {
        loops.all[0].execute { [task] in task.stop(reason) }
    }

    /// Sends what there is to send, and completes the capture; once only.
    ///
    /// Errors: `capture-write-failed`.
    package func run() async throws(Failure) -> ReplayClientReport {
        let report = await withTaskGroup(of: ReplayClientReport?.self) { group in
            group.addTask(executorPreference: loops.all[0]) { await self.task.run() }
            return await group.next() ?? nil
        }
        events.finish()
        if let writer { try writer.close() }
        loops.stop()
        guard let report else { preconditionFailure("a task that was added has a result") }
        return report
    }
}
