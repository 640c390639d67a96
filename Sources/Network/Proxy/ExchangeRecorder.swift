internal import Base
internal import HTTPModel
internal import Messages
internal import Traffic

/// The record of one exchange while it goes on.
///
/// `@unchecked Sendable`: the tasks that use it run on its loop's executor.
final class ExchangeRecorder: @unchecked Sendable {
    var record: ExchangeRecord
    private var requestBody: BodyRecorder
    private var responseBody: BodyRecorder
    private let recorder: TrafficRecorder
    private(set) var isFinished = false
    /// Whether the store was told of the exchange before its end.
    private(set) var isAnnounced = false
    private let task: ConnectionTask
    /// Watch the contents for the messages inside, if they have some.
    private var requestMessages: BodyMessageReader?
    private var responseMessages: BodyMessageReader?

    init(_ record: ExchangeRecord, of task: ConnectionTask) {
        self.record = record
        self.task = task
        recorder = task.lane.recorder
        let limit = task.limits.recordedBody
        requestBody = BodyRecorder(exchange: record.id, direction: .request, limit: limit)
        responseBody = BodyRecorder(exchange: record.id, direction: .response, limit: limit)
    }

    /// The content behind a request's head comes now.
    func watchContent(behind head: RequestHead) {
        requestMessages = BodyMessageReader(head.fields, exchange: record.id, .request)
    }

    /// The same of the final response.
    func watchContent(behind head: ResponseHead) {
        responseMessages = BodyMessageReader(head.fields, exchange: record.id, .response)
    }

    func note(_ head: ResponseHead) {
        record.responseHead = head.raw
        record.status = head.status
        record.firstByteMicroseconds = Timestamp.now().microseconds(since: record.startedAt)
    }

    func append(_ bytes: Span<UInt8>, _ direction: Direction) {
        switch direction {
        case .request:
            requestMessages?.read(bytes, to: task)
            requestBody.append(bytes, to: recorder)
        case .response:
            responseMessages?.read(bytes, to: task)
            responseBody.append(bytes, to: recorder)
        }
    }

    func noteTrailers(_ trailers: Fields, _ direction: Direction) {
        task.noteForbidden(trailers)
        switch direction {
        case .request: requestBody.noteTrailers(trailers.raw)
        case .response: responseBody.noteTrailers(trailers.raw)
        }
    }

    /// Hands the finished exchange over, once.
    func finish(error: String? = nil, _ detail: String? = nil) {
        guard !isFinished else { return }
        isFinished = true
        record.durationMicroseconds = Timestamp.now().microseconds(since: record.startedAt)
        if let error {
            record.error = record.error ?? error
            record.errorDetail = record.errorDetail ?? detail
        }
        record.requestBody = requestBody.finish(to: recorder)
        record.responseBody = responseBody.finish(to: recorder)
        recorder.record(.exchange(record))
    }

    /// Tells the store of an exchange that lasts, and what has passed of its content.
    func announce(olderThan microseconds: Int64) {
        guard !isFinished, Timestamp.now().microseconds(since: record.startedAt) > microseconds
        else { return }
        requestBody.spillIfSlow(to: recorder)
        responseBody.spillIfSlow(to: recorder)
        var copy = record
        copy.requestBody = requestBody.body
        copy.responseBody = responseBody.body
        isAnnounced = true
        recorder.record(.exchange(copy))
    }
}
