internal import Base
internal import Contents
internal import HTTPModel
internal import Traffic

/// A recorded response, as far as it is held in memory.
final class RecordedResponse: Sendable {
    let exchange: Int64
    let connection: Int64
    let startedAt: Timestamp
    let interims: [ResponseHead]
    let head: ResponseHead
    let trailers: Fields
    /// How many bytes are recorded of its content, or passed.
    let size: Int64
    /// The content, `nil` if it is read in pieces.
    let content: [UInt8]?
    /// Where the content is cut into pieces, and when each is due; by rising offset.
    let cuts: [Cut]
    let firstByte: Int64
    let duration: Int64
    /// Whether the origin broke off before it was whole.
    let isBroken: Bool
    /// Whether the end waits for the end of the request.
    let waitsForRequest: Bool

    /// A place in the content.
    struct Cut: Sendable {
        /// Behind the piece.
        var end: Int64
        /// From the start of the exchange, in microseconds.
        let due: Int64
        /// How many messages the client had sent before.
        let clientMessages: Int
    }

    /// In bytes: longer contents are read in pieces.
    private static let heldSize: Int64 = 256 << 10

    /// - Returns: `nil` if the response's head cannot be read.
    init?(_ record: ExchangeRecord, from source: any TrafficSource, _ options: ReplayOptions) throws
    {
        guard let head = RecordedHeads.response(record.responseHead) else { return nil }
        exchange = record.id
        connection = record.connection
        startedAt = record.startedAt
        self.head = head
        interims = record.interimHeads.compactMap(RecordedHeads.response)
        trailers = RecordedHeads.trailers(record.responseBody.trailers)
        size = record.responseBody.size
        isBroken = record.responseBody.isTruncated || record.error != nil
        firstByte = record.firstByteMicroseconds ?? 0
        duration = record.durationMicroseconds ?? firstByte
        let type = MediaType(head.fields.first(.contentType))
        let isStream = type.isGRPC || type.isEventStream
        var cuts = isStream ? try Self.cuts(of: record, source) : []
        if isStream, !type.isGRPC { try Self.addEmptyLines(to: &cuts, of: record, source) }
        self.cuts = cuts
        waitsForRequest = type.isGRPC && !cuts.isEmpty
        guard size <= Self.heldSize else {
            content = nil
            return
        }
        var content: [UInt8] = []
        try source.body(ofExchange: record.id, .response) { bytes in
            content += bytes
            return true
        }
        self.content = content
    }

    private static func cuts(
        of record: ExchangeRecord, _ source: any TrafficSource
    ) throws -> [Cut] {
        var cuts: [Cut] = []
        var clientMessages = 0
        try source.messages(ofConnection: record.connection, exchange: record.id) { message in
            guard message.direction == .response else {
                if message.kind == .grpc { clientMessages += 1 }
                return true
            }
            guard let offset = message.offset, message.isLast else { return true }
            let prefix: Int64 = message.kind == .grpc ? 5 : 0
            cuts.append(
                Cut(
                    end: offset.addingSaturated(message.size).addingSaturated(prefix),
                    due: message.at.microseconds(since: record.startedAt),
                    clientMessages: clientMessages))
            return cuts.count < cutLimit
        }
        return cuts
    }

    /// Moves each cut behind the empty line that ends an event, and is no part of it: a client acts
    /// on that line.
    private static func addEmptyLines(
        to cuts: inout [Cut], of record: ExchangeRecord, _ source: any TrafficSource
    ) throws {
        var ends = cuts.map(\.end)
        var (next, offset) = (0, Int64(0))
        var sawReturn = false
        try source.body(ofExchange: record.id, .response) { bytes in
            if sawReturn, bytes.first == 0x0A { ends[next - 1] += 1 }
            sawReturn = false
            while next < ends.count, ends[next] < offset + Int64(bytes.count) {
                let line = bytes[Int(max(ends[next] - offset, 0))...].prefix(2)
                if line.first == 0x0D || line.first == 0x0A { ends[next] += 1 }
                if line.elementsEqual([0x0D, 0x0A]) { ends[next] += 1 }
                sawReturn = line.elementsEqual([0x0D])
                next += 1
            }
            offset += Int64(bytes.count)
            return next < ends.count || sawReturn
        }
        for index in cuts.indices { cuts[index].end = ends[index] }
    }

    private static let cutLimit = 100_000

    /// About how much memory it holds, in bytes.
    var weight: Int { 1024 + head.raw.count * 3 + (content?.count ?? 0) + cuts.count * 24 }

    /// Whether it begins another protocol.
    var isSwitch: Bool { head.status == 101 }
}
