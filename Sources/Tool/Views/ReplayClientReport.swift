package import Base
internal import Redaction
package import Replay

/// What came of sending a recording again.
package struct ReplayClientReport: Sendable {
    package enum Outcome: Equatable, Sendable {
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

    package enum StopReason: String, Sendable {
        case signal
        case failures
        case capture
    }

    /// Those of a stream: a WebSocket, or a call of gRPC over HTTP/2.
    package struct Messages: Equatable, Sendable {
        /// Of the client, and how many it was to send.
        package let sent: Int
        package let total: Int
        /// Of the origin, and how many the recording has.
        package let heard: Int
        package let recorded: Int

        package init(sent: Int, total: Int, heard: Int, recorded: Int) {
            self.sent = sent
            self.total = total
            self.heard = heard
            self.recorded = recorded
        }

        /// Whether all were sent, and no fewer came than in the recording.
        var isWhole: Bool { sent == total && heard >= recorded }
    }

    /// A request that did not end as it did in the recording.
    package struct Difference: Sendable {
        package let exchange: Int64
        package let method: String
        package let url: String
        package let recordedStatus: Int
        package let recordedCall: Int?
        package let outcome: Outcome
        package let messages: Messages?

        package init(
            exchange: Int64, method: String, url: String, recordedStatus: Int, recordedCall: Int?,
            outcome: Outcome, messages: Messages?
        ) {
            self.exchange = exchange
            self.method = method
            self.url = url
            self.recordedStatus = recordedStatus
            self.recordedCall = recordedCall
            self.outcome = outcome
            self.messages = messages
        }
    }

    package init() {}

    package var requestCount = 0
    package var answeredCount = 0
    /// Answered with a status of the recorded class, calls of gRPC with the recorded status.
    package var sameCount = 0
    package var failedCount = 0
    package var withheldCount = 0
    package var unsentCount = 0
    package var messagesSent = 0
    package var messagesUnsent = 0
    package var leftOut: [ReplayPlan.Obstacle: Int] = [:]
    /// The first of them, up to `differenceLimit`.
    package var differences: [Difference] = []
    package var differenceCount = 0
    package var stopReason: StopReason?
    package var replacedCount = 0
    package var keptCount = 0
    package var durationMicroseconds: Int64 = 0

    /// Takes what became of one request; recorded ones without an answer are compared with nothing.
    package mutating func note(_ difference: Difference) {
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

    package enum Verdict: String, Sendable {
        case same
        case different
        /// Nothing was answered, or some requests were not sent.
        case inconclusive
    }

    package var verdict: Verdict {
        if answeredCount == 0 { return .inconclusive }
        if !differences.isEmpty { return .different }
        let isWhole = withheldCount + unsentCount == 0 && leftOut.keys.allSatisfy { $0 == .tunnel }
        return isWhole ? .same : .inconclusive
    }

    package var json: JSONText {
        [
            "schema": "sallyport.replay-client/1",
            "verdict": .string(verdict.rawValue),
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
            "durationMs": .thousandths(durationMicroseconds),
            "values": [
                "replaced": .integer(Int64(replacedCount)), "kept": .integer(Int64(keptCount)),
            ],
            "differenceCount": .integer(Int64(differenceCount)),
            "differences": .array(differences.map(\.json)),
        ]
    }
}

extension ReplayClientReport.Difference {
    package var json: JSONText {
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
}

extension SubstitutionPlan {
    /// For a review: where each value comes from, and where it goes.
    package var json: JSONText {
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
}
