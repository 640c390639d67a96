internal import Base
internal import Contents
internal import Redaction
internal import Replay

/// What came of sending a recording again.
struct ReplayClientReport {
    enum Outcome: Equatable {
        /// - `call`: how a call of gRPC ended; `nil` for everything else.
        case answered(status: Int, call: Int?)
        /// A WebSocket was opened; whether the origin let all be said, and answered as often.
        case conversed(isWhole: Bool)
        /// There was no answer.
        case failed(code: String, detail: String)
        /// It might have changed something at a host that was not named.
        case withheld
        /// It was stopped before.
        case unsent
    }

    enum StopReason: String {
        case signal
        case failures
        case capture
    }

    /// Those of a stream: a WebSocket, or a call of gRPC over HTTP/2.
    struct Messages: Equatable {
        /// Of the client, and how many it was to send.
        let sent: Int
        let total: Int
        /// Of the origin, and how many the recording has.
        let heard: Int
        let recorded: Int

        /// Whether all were sent, and no fewer came than in the recording.
        var isWhole: Bool { sent == total && heard >= recorded }
    }

    /// A request that did not end as it did in the recording.
    struct Difference {
        let exchange: Int64
        let method: String
        let url: String
        let recordedStatus: Int
        let recordedCall: Int?
        let outcome: Outcome
        let messages: Messages?
    }

    var requestCount = 0
    var answeredCount = 0
    /// Answered with a status of the recorded class, calls of gRPC with the recorded status.
    var sameCount = 0
    var failedCount = 0
    var withheldCount = 0
    var unsentCount = 0
    var messagesSent = 0
    var messagesUnsent = 0
    var leftOut: [ReplayPlan.Obstacle: Int] = [:]
    /// The first of them, up to `differenceLimit`.
    var differences: [Difference] = []
    var differenceCount = 0
    var stopReason: StopReason?
    var replacedCount = 0
    var keptCount = 0
    var durationMicroseconds: Int64 = 0

    /// Takes what became of one request; recorded ones without an answer are compared with nothing.
    mutating func note(_ difference: Difference) {
        requestCount += 1
        if let messages = difference.messages {
            messagesSent += messages.sent
            messagesUnsent += messages.total - messages.sent
        }
        switch difference.outcome {
        case .answered(let status, let call):
            answeredCount += 1
            let recorded = difference.recordedStatus
            let isSameCall = difference.recordedCall.map { $0 == call } ?? true
            let isWhole = difference.messages?.isWhole ?? true
            if isWhole && (recorded == 0 || recorded / 100 == status / 100 && isSameCall) {
                sameCount += 1
            } else {
                add(difference)
            }
        case .conversed(let isWhole):
            answeredCount += 1
            let isExpected = difference.recordedStatus == 0 || difference.recordedStatus == 101
            if isWhole && isExpected { sameCount += 1 } else { add(difference) }
        case .failed:
            failedCount += 1
            add(difference)
        case .withheld: withheldCount += 1
        case .unsent: unsentCount += 1
        }
    }

    private mutating func add(_ difference: Difference) {
        differenceCount += 1
        if differences.count < Self.differenceLimit { differences.append(difference) }
    }

    /// Nobody reads more; those behind it are counted.
    private static let differenceLimit = 1000

    var exitCode: ExitCode {
        if answeredCount == 0 { return .inconclusive }
        if !differences.isEmpty { return .findings }
        let isWhole = withheldCount + unsentCount == 0 && leftOut.keys.allSatisfy { $0 == .tunnel }
        return isWhole ? .clean : .inconclusive
    }

    var json: JSONText {
        [
            "schema": "sallyport.replay-client/1",
            "verdict": .string(
                exitCode == .clean ? "same" : exitCode == .findings ? "different" : "inconclusive"),
            "requests": [
                "total": .integer(Int64(requestCount)), "answered": .integer(Int64(answeredCount)),
                "same": .integer(Int64(sameCount)), "failed": .integer(Int64(failedCount)),
                "withheld": .integer(Int64(withheldCount)), "unsent": .integer(Int64(unsentCount)),
            ],
            "messages": [
                "sent": .integer(Int64(messagesSent)), "unsent": .integer(Int64(messagesUnsent)),
            ],
            "leftOut": .object(
                ReplayPlan.Obstacle.allCases.compactMap { why in
                    leftOut[why].map { JSONText.Member(why.rawValue, .integer(Int64($0))) }
                }),
            "stoppedBy": .optional(stopReason?.rawValue),
            "durationMicroseconds": .integer(durationMicroseconds),
            "values": [
                "replaced": .integer(Int64(replacedCount)), "kept": .integer(Int64(keptCount)),
            ],
            "differenceCount": .integer(Int64(differenceCount)),
            "differences": .array(differences.map(\.json)),
        ]
    }
}

extension ReplayClientReport.Difference {
    var json: JSONText {
        var answer: (status: Int, call: Int?)?
        var failure: (code: String, detail: String)?
        switch outcome {
        case .answered(let status, let call): answer = (status, call)
        case .conversed: answer = (101, nil)
        case .failed(let code, let detail): failure = (code, detail)
        case .withheld, .unsent: break
        }
        return [
            "exchange": .integer(exchange), "method": .string(method),
            "url": .string(URLRedaction.redact(url)),
            "recordedStatus": .integer(Int64(recordedStatus)), "status": .optional(answer?.status),
            "recordedGrpcStatus": .optional(recordedCall), "grpcStatus": .optional(answer?.call),
            "recordedMessages": .optional(messages?.recorded),
            "messages": .optional(messages?.heard),
            "recordedSentMessages": .optional(messages?.total),
            "sentMessages": .optional(messages?.sent), "error": .optional(failure?.code),
            "detail": .optional(failure?.detail),
        ]
    }

    /// `exchange 3: GET http://example.com/ was 200 and is 403`.
    var line: String {
        let start = "exchange \(exchange): \(method) \(URLRedaction.redact(url))"
        let was = recordedStatus > 0 ? "was \(Self.words(recordedStatus, recordedCall)) and " : ""
        let words = outcomeWords(start, was)
        guard let messages else { return words }
        var remarks = [words]
        if case .answered = outcome, messages.heard < messages.recorded {
            remarks.append("\(messages.heard) of \(messages.recorded) messages came")
        }
        if messages.sent < messages.total {
            remarks.append("\(messages.sent) of \(messages.total) messages were sent")
        }
        return remarks.joined(separator: "; ")
    }

    private func outcomeWords(_ start: String, _ was: String) -> String {
        switch outcome {
        case .answered(let status, let call): "\(start) \(was)is \(Self.words(status, call))"
        case .conversed where recordedStatus > 0 && recordedStatus != 101: "\(start) \(was)is 101"
        case .conversed:
            "\(start) was answered with \(messages?.recorded ?? 0) messages and is with"
                + " \(messages?.heard ?? 0)"
        case .failed(_, let detail): "\(start) \(was)has no answer: \(detail)"
        case .withheld, .unsent: start
        }
    }

    private static func words(_ status: Int, _ call: Int?) -> String {
        call.map { "\(status) with gRPC status \($0)" } ?? "\(status)"
    }
}

extension SubstitutionPlan {
    /// For a review: where each value comes from, and where it goes.
    var json: JSONText {
        .array(
            values.map { value in
                [
                    "length": .integer(Int64(value.length)),
                    "from": .array(
                        value.sources.map { source in
                            [
                                "exchange": .integer(source.exchange),
                                "place": .string(source.place.description),
                            ]
                        }),
                    "to": .array(
                        value.uses.map { use in
                            ["exchange": .integer(use.exchange), "place": .string(use.name)]
                        }),
                ]
            })
    }

    /// The same in lines; the values themselves, which are secrets, are not shown.
    var lines: [String] {
        values.flatMap { value -> [String] in
            guard let source = value.sources.first else { return [] }
            let title =
                "exchange \(source.exchange) \(source.place) (\(value.length) bytes)"
            return [title] + value.uses.map { "    -> exchange \($0.exchange) \($0.name)" }
        }
    }
}
