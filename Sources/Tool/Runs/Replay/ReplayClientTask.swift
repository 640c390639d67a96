internal import Base
internal import Contents
internal import HTTPClient
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Replay
internal import Sockets
internal import TLS
internal import Traffic
internal import Views

/// Sends what a plan has, and gathers what comes of it.
///
/// `@unchecked Sendable`: once it runs, all of it is used on its loop's executor alone.
final class ReplayClientTask: @unchecked Sendable {
    private let plan: ReplayPlan
    private let source: any TrafficSource
    private let options: ReplayClientConfiguration
    private let client: HTTPClient
    private let loop: EventLoop
    private let bell: LoopWakeup
    private let targets: [OriginTarget]
    private let sendable: [ReplayPlan.Entry]
    private var schedule: ReplaySchedule
    private var live: LiveValues
    private var report: ReplayClientReport
    private var failuresInARow: Int64 = 0
    private let progress: @Sendable (_ done: Int) -> Void

    init(
        _ plan: ReplayPlan, from source: any TrafficSource, _ options: ReplayClientConfiguration,
        client: HTTPClient, on loop: EventLoop, progress: @escaping @Sendable (Int) -> Void
    ) {
        self.plan = plan
        self.source = source
        self.options = options
        self.client = client
        self.loop = loop
        self.progress = progress
        bell = LoopWakeup(loop)
        live = LiveValues(plan.substitutions)
        report = ReplayClientReport()
        for (_, why) in plan.leftOut { report.leftOut[why, default: 0] += 1 }
        let destinations = options.destinations
        var sendable: [ReplayPlan.Entry] = []
        var targets: [OriginTarget] = []
        for entry in plan.entries {
            let decision = destinations.decide(
                isSafe: entry.isSafe, isSecure: entry.isSecure, authority: entry.authority)
            switch decision {
            case .send(let target):
                sendable.append(entry)
                targets.append(target)
            case .withhold: report.note(.init(entry, url: "", .withheld))
            case .unknown: report.leftOut[.malformed, default: 0] += 1
            }
        }
        self.sendable = sendable
        self.targets = targets
        let places = Dictionary(
            uniqueKeysWithValues: sendable.enumerated().map { ($1.exchange, $0) })
        let windows = sendable.enumerated().map { place, entry in
            ReplaySchedule.Window(
                start: entry.start, end: entry.end,
                needs: plan.substitutions.needs(ofRequest: entry.exchange)
                    .compactMap { places[$0] }.filter { $0 < place })
        }
        schedule = ReplaySchedule(
            windows, pace: options.pace, concurrencyLimit: options.concurrency)
    }

    func run() async -> ReplayClientReport {
        let start = Timestamp.now()
        await client.run { await sendAll() }
        for entry in sendable[schedule.sentCount...] {
            report.note(.init(entry, url: "", .unsent))
        }
        report.durationMicroseconds = Timestamp.now().microseconds(since: start)
        (report.replacedCount, report.keptCount) = live.counts
        return report
    }

    private func sendAll() async {
        await withDiscardingTaskGroup { group in
            while true {
                switch schedule.step(now: loop.now) {
                case .send(let place):
                    group.addTask(executorPreference: loop) { await self.perform(place) }
                case .wait(let due): _ = await bell.wait(until: due)
                case .pause: _ = await bell.wait(until: .max)
                case .done: return
                }
            }
        }
    }

    /// Sends nothing more; what is under way ends. On the loop's thread only.
    func stop(_ reason: ReplayClientReport.StopReason) {
        schedule.stop()
        report.stopReason = report.stopReason ?? reason
        bell.wake()
    }

    private func perform(_ place: Int) async {
        let entry = sendable[place]
        var url = ""
        var stream: ReplayStream?
        let outcome: ReplayClientReport.Outcome
        do {
            outcome = try await send(entry, to: targets[place], &url, &stream)
            failuresInARow = 0
        } catch {
            let failure =
                error as? Failure ?? Failure("request-unreadable", party: .tool, "\(error)")
            outcome = .failed(code: failure.code, detail: failure.detail)
            failuresInARow += 1
            if let limit = options.stopAfter, failuresInARow >= limit { stop(.failures) }
        }
        report.note(.init(entry, url: url, outcome, stream?.messages))
        schedule.end(place)
        progress(report.requestCount)
        bell.wake()
    }

    private func send(
        _ entry: ReplayPlan.Entry, to target: OriginTarget, _ url: inout String,
        _ stream: inout ReplayStream?
    ) async throws -> ReplayClientReport.Outcome {
        let id = entry.exchange
        guard let record = try source.exchange(id) else {
            throw Failure("no-such-exchange", party: .tool, "exchange \(id) is gone")
        }
        url = record.url(RecordedHead(record.requestHead)).text
        var request = try request(for: entry, record, to: target)
        stream = try ReplayStream(record, request, from: source, timing: options.timing)
        guard case .webSocket(let machine, _) = stream else {
            if case .call(let machine, _) = stream { request.call = machine }
            let answer = try await client.send(request)
            note(answer, for: id)
            return .answered(
                status: answer.head.status,
                call: CallStatus.of(answer.head.fields, trailers: answer.trailers))
        }
        let (answer, isOpened) = try await client.converse(request, machine)
        note(answer, for: id)
        return isOpened
            ? .conversed(isWhole: machine.isWhole)
            : .answered(status: answer.head.status, call: nil)
    }

    private func note(_ answer: ClientResponse, for id: Int64) {
        guard plan.substitutions.wants(answerTo: id) else { return }
        live.note(answer.head, answer.content, ofResponse: id)
    }

    private func request(
        for entry: ReplayPlan.Entry, _ record: ExchangeRecord, to target: OriginTarget
    ) throws -> ClientRequest {
        let destination = RequestRewrite.Destination(
            origin: target.origin, authority: target.authority)
        let key = entry.opensWebSocket ? Base64.encode(Digests.randomBytes(16)) : nil
        let rewrite = try RequestRewrite(record, to: destination, webSocketKey: key, &live) {
            try ReplayPlan.content(ofExchange: record.id, .request, in: source)
        }
        guard let rewrite else {
            throw Failure(
                "request-malformed", party: .tool, "exchange \(record.id) cannot be sent")
        }
        var request = ClientRequest(
            target: target, method: rewrite.method, isSafe: entry.isSafe, head: rewrite.head,
            content: rewrite.content.map { .bytes($0) } ?? recordedContent(of: record),
            isChunked: rewrite.isChunked)
        request.trailers = rewrite.trailers
        request.prefersHTTP2 = record.protocolName == HTTPVersion.http2.text
        request.tellsLength = rewrite.tellsLength
        request.opensWebSocket = entry.opensWebSocket
        return request
    }

    private func recordedContent(of record: ExchangeRecord) -> ClientRequest.Content {
        guard record.requestBody.size > 0 else { return .bytes([]) }
        let source = source
        return .pieces { offset in
            var piece: [UInt8] = []
            do {
                try source.body(ofExchange: record.id, .request, from: offset) { bytes in
                    piece = bytes
                    return bytes.isEmpty
                }
                return .success(piece)
            } catch {
                return .failure(
                    error as? Failure
                        ?? Failure("capture-unreadable", party: .tool, "\(error)"))
            }
        }
    }
}

extension ReplayClientReport.Difference {
    fileprivate init(
        _ entry: ReplayPlan.Entry, url: String, _ outcome: ReplayClientReport.Outcome,
        _ messages: ReplayClientReport.Messages? = nil
    ) {
        self.init(
            exchange: entry.exchange, method: entry.method, url: url,
            recordedStatus: entry.status, recordedCall: entry.callStatus, outcome: outcome,
            messages: messages)
    }
}
