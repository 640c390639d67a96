internal import Base
internal import Contents
internal import HTTPModel
package import Traffic

/// What of a capture is sent again, and what its requests get from live responses.
package struct ReplayPlan: Sendable {
    /// A recorded request that can be sent.
    package struct Entry: Sendable {
        package let exchange: Int64
        /// In microseconds since 1970.
        package let start: Int64
        package let end: Int64
        package let method: String
        package let isSecure: Bool
        package let authority: String
        /// 0 if no origin answered.
        package let status: Int
        /// How a call of gRPC ended; `nil` for other exchanges.
        package let callStatus: Int?
        package let opensWebSocket: Bool

        /// Whether sending it changes nothing; nobody knows that of messages.
        package var isSafe: Bool { ReplayPlan.isSafe(method) && !opensWebSocket }
    }

    /// Whether a method changes nothing (RFC 9110 §9.2.1).
    package static func isSafe(_ method: String) -> Bool {
        ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method)
    }

    /// Why a recorded exchange cannot be sent.
    package enum Obstacle: String, Sendable, CaseIterable {
        case tunnel
        case malformed
        /// Its content was not recorded whole.
        case content
    }

    package private(set) var entries: [Entry] = []
    package private(set) var leftOut: [(exchange: Int64, why: Obstacle)] = []
    package private(set) var substitutions: SubstitutionPlan

    /// In bytes: values are looked for in the start of a content.
    package static let contentLimit = 1 << 20

    /// - Parameters:
    ///   - includes: which exchanges are meant.
    ///   - substitutes: whether values are looked for.
    ///   - keeps: places of responses whose values stay as recorded.
    package init(
        _ source: any TrafficSource, substitutes: Bool, keeps: Set<String>,
        includes: (ExchangeRecord) throws -> Bool
    ) throws {
        substitutions = SubstitutionPlan(keeps: keeps)
        var answers: [(at: Int64, exchange: Int64)] = []
        try source.exchanges { record in
            guard try includes(record) else { return true }
            if let obstacle = Self.obstacle(to: record) {
                leftOut.append((record.id, obstacle))
                return true
            }
            let start = record.startedAt.microseconds
            let duration = record.durationMicroseconds ?? record.firstByteMicroseconds ?? 0
            let hasAnswer = record.status > 0 && !record.answeredByTool
            let opensWebSocket = RecordedHeads.request(of: record)?.opensWebSocket ?? false
            // HTTP/2 agrees with 200 (RFC 8441 §5); an opened WebSocket counts as 101 everywhere.
            let status = opensWebSocket && record.status / 100 == 2 ? 101 : record.status
            entries.append(
                Entry(
                    exchange: record.id, start: start, end: start.addingSaturated(duration),
                    method: RecordedHead(record.requestHead).method.text,
                    isSecure: record.scheme == .https, authority: record.authority,
                    status: hasAnswer ? status : 0,
                    callStatus: hasAnswer ? Self.callStatus(of: record) : nil,
                    opensWebSocket: opensWebSocket))
            if hasAnswer {
                let arrival = record.firstByteMicroseconds ?? duration
                answers.append((start.addingSaturated(arrival), record.id))
            }
            return true
        }
        entries.sort { ($0.start, $0.exchange) < ($1.start, $1.exchange) }
        guard substitutes else { return }
        answers.sort { $0 < $1 }
        var waiting = answers[...]
        for entry in entries {
            while let answer = waiting.first, answer.at <= entry.start {
                waiting.removeFirst()
                try noteAnswer(answer.exchange, source)
            }
            try noteRequest(entry.exchange, source)
        }
        substitutions.finish()
    }

    private static func callStatus(of record: ExchangeRecord) -> Int? {
        guard let head = RecordedHeads.response(record.responseHead) else { return nil }
        return CallStatus.of(
            head.fields, trailers: RecordedHeads.trailers(record.responseBody.trailers))
    }

    private static func obstacle(to record: ExchangeRecord) -> Obstacle? {
        guard let head = RecordedHeads.head(of: record) else {
            return record.asksForTunnel ? .tunnel : .malformed
        }
        if RecordedHeads.request(of: record)?.opensWebSocket ?? false { return nil }
        if head.knownMethod == .connect { return .tunnel }
        if record.requestBody.isTruncated { return .content }
        if let length = head.fields.first(.contentLength), let size = Int64(length.text),
            size != record.requestBody.size
        {
            return .content
        }
        return nil
    }

    private mutating func noteAnswer(_ id: Int64, _ source: any TrafficSource) throws {
        guard let record = try source.exchange(id),
            let head = RecordedHeads.response(record.responseHead)
        else { return }
        let content = try Self.content(ofExchange: id, .response, in: source)
        substitutions.note(head, content, ofResponse: id)
    }

    private mutating func noteRequest(_ id: Int64, _ source: any TrafficSource) throws {
        guard let record = try source.exchange(id), let head = RecordedHeads.head(of: record)
        else { return }
        // Values are only put into contents that are held whole.
        let isHeld = record.requestBody.size <= Self.contentLimit
        let content = isHeld ? try Self.content(ofExchange: id, .request, in: source) : []
        substitutions.note(head, content, ofRequest: id)
    }

    /// The start of a content.
    package static func content(
        ofExchange id: Int64, _ direction: Direction, in source: any TrafficSource
    ) throws -> [UInt8] {
        var content: [UInt8] = []
        try source.body(ofExchange: id, direction) { bytes in
            content += bytes.prefix(contentLimit - content.count)
            return content.count < contentLimit
        }
        return content
    }
}
