package import Base
package import HTTPModel
package import Traffic

/// The record of one exchange while it goes on.
///
/// `@unchecked Sendable`: the tasks that use it run on one loop's executor.
package final class ExchangeRecorder: @unchecked Sendable {
    package var record: ExchangeRecord
    private let recorder: TrafficRecorder
    private let messages: (any MessageRecorder)?
    private var requestBody: BodyRecorder
    private var responseBody: BodyRecorder
    /// Watch the contents for the messages inside, if they have some.
    private var requestMessages: BodyMessageReader?
    private var responseMessages: BodyMessageReader?
    package private(set) var isFinished = false
    /// Whether the store was told of the exchange before its end.
    package private(set) var isAnnounced = false

    /// - Parameters:
    ///   - messages: takes the messages inside the contents; `nil` to look for none.
    ///   - byteLimit: of each content; bytes past it are counted but not recorded.
    package init(
        _ record: consuming ExchangeRecord, to recorder: TrafficRecorder,
        messages: (any MessageRecorder)?, byteLimit: Int64 = .max
    ) {
        self.recorder = recorder
        self.messages = messages
        requestBody = BodyRecorder(
            exchange: record.id, direction: .request, byteLimit: byteLimit)
        responseBody = BodyRecorder(
            exchange: record.id, direction: .response, byteLimit: byteLimit)
        self.record = record
    }

    /// The content behind a head with these fields comes now.
    package func watchContent(behind fields: Fields, _ direction: Direction) {
        guard messages != nil,
            let reader = BodyMessageReader.reader(
                behind: fields, exchange: record.id, direction)
        else { return }
        switch direction {
        case .request: requestMessages = reader
        case .response: responseMessages = reader
        }
    }

    /// Records the head of the final response.
    package func note(_ head: ResponseHead, at time: Timestamp = .now()) {
        record.responseHead = head.raw
        record.status = head.status
        record.firstByteMicroseconds = time.microseconds(since: record.startedAt)
    }

    package func append(_ bytes: Span<UInt8>, _ direction: Direction) {
        switch direction {
        case .request:
            if let requestMessages, let messages { requestMessages.read(bytes, to: messages) }
            requestBody.append(bytes, to: recorder)
        case .response:
            if let responseMessages, let messages { responseMessages.read(bytes, to: messages) }
            responseBody.append(bytes, to: recorder)
        }
    }

    /// How much of a content has passed, in bytes.
    package func size(_ direction: Direction) -> Int64 {
        direction == .request ? requestBody.body.size : responseBody.body.size
    }

    package func noteTrailers(_ trailers: [UInt8], _ direction: Direction) {
        switch direction {
        case .request: requestBody.noteTrailers(trailers)
        case .response: responseBody.noteTrailers(trailers)
        }
    }

    /// Hands the finished exchange over, once.
    package func finish(
        at time: Timestamp = .now(), error: String? = nil, _ detail: String? = nil
    ) {
        guard !isFinished else { return }
        isFinished = true
        record.durationMicroseconds = time.microseconds(since: record.startedAt)
        if let error {
            record.error = record.error ?? error
            record.errorDetail = record.errorDetail ?? detail
        }
        record.requestBody = requestBody.finish(to: recorder)
        record.responseBody = responseBody.finish(to: recorder)
        recorder.record(.exchange(record))
    }

    /// Tells the store of an exchange that lasts, and what has passed of its content.
    package func announce(olderThan microseconds: Int64) {
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
