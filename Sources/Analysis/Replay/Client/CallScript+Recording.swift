internal import Base
internal import Contents
package import HTTPCodecs
internal import HTTPModel
package import Traffic

extension CallScript {
    /// When the messages of a recorded call of gRPC go out.
    ///
    /// - Parameter timing: at the recorded times multiplied by so many thousandths; `nil` for as soon
    ///   as the recorded order allows.
    /// - Returns: `nil` for what is no call, and for a call whose messages were not recorded.
    package init?(_ record: ExchangeRecord, from source: any TrafficSource, timing: Int64?) throws {
        guard record.requestBody.size > 0,
            MediaType(RecordedHeads.head(of: record)?.fields.first(.contentType)).isGRPC
        else { return nil }
        self.init()
        var last = record.startedAt
        try source.messages(ofConnection: record.connection, exchange: record.id) { message in
            guard message.kind == .grpc, message.isLast else { return true }
            guard message.direction == .request else {
                awaited += 1
                return true
            }
            defer { last = message.at }
            // A file's word for a place in the content is not taken.
            guard let end = Self.end(of: message), end > lines.last?.end ?? 0,
                end <= record.requestBody.size
            else { return true }
            lines.append(
                Line(
                    end: end, awaited: awaited,
                    due: timing.map { Self.due(message.at, in: record, $0) } ?? 0,
                    patience: RecordedPatience.milliseconds(from: last, to: message.at)))
            return lines.count < Self.lineLimit
        }
        guard !lines.isEmpty else { return nil }
    }

    /// More messages of one call go out without waiting, as far as memory is concerned.
    private static let lineLimit = 100_000

    private static func end(of message: MessageRecord) -> Int64? {
        guard let offset = message.offset, offset >= 0, message.size >= 0 else { return nil }
        let (end, overflow) = offset.addingReportingOverflow(message.size)
        return overflow || end > .max - prefixLength ? nil : end + prefixLength
    }

    /// In bytes, of what stands before each message.
    private static let prefixLength: Int64 = 5

    private static func due(
        _ time: Timestamp, in record: ExchangeRecord, _ thousandths: Int64
    ) -> UInt64 {
        let recorded = Double(time.microseconds(since: record.startedAt)) / 1000
        return UInt64(min(recorded * Double(max(0, thousandths)) / 1000, timeLimit))
    }

    /// In milliseconds: longer than any machine runs.
    private static let timeLimit = 1e15
}
