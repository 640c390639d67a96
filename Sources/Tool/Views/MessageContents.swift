internal import Base
internal import Contents
internal import HTTPModel
package import Traffic

/// Finds the contents of messages: in their records, or in the bodies of their exchanges.
package final class MessageContents {
    /// What there is of a part's content.
    struct Content {
        var bytes: [UInt8] = []
        var isWhole = true
        /// What a person should know about it; empty if nothing.
        var remark = ""
    }

    private struct Place: Equatable {
        let exchange: Int64
        let direction: Direction
    }

    private let source: any TrafficSource
    private var place: Place?
    private var isCoded = false
    /// A piece of the body that was read last, and where it begins.
    private var window: (start: Int64, bytes: [UInt8]) = (0, [])

    package init(_ source: any TrafficSource) {
        self.source = source
    }

    /// - Parameter byteLimit: how much is wanted of a content that is in a body.
    func content(of part: MessageRecord, byteLimit: Int) throws -> Content {
        guard let exchange = part.exchange, let offset = part.offset else {
            return Content(bytes: part.bytes)
        }
        try enter(Place(exchange: exchange, direction: part.direction))
        if isCoded { return Content(isWhole: false, remark: "in the coded body of its exchange") }
        guard part.kind == .grpc, part.part == 0 else {
            return try read(offset, count: part.size, byteLimit)
        }
        // A flag and a length go before a message (gRPC over HTTP/2, Length-Prefixed-Message).
        let prefix = try read(offset, count: 5, 5).bytes
        guard prefix.count == 5 else { return Content(isWhole: false) }
        let length = prefix[1...].reduce(0) { $0 << 8 | Int64($1) }
        var content = try read(
            offset.addingSaturated(5),
            count: part.isLast ? length : min(length, part.size), byteLimit)
        if prefix[0] != 0 { content.remark = "compressed" }
        return content
    }

    private func enter(_ place: Place) throws {
        guard place != self.place else { return }
        self.place = place
        window = (0, [])
        let record = try source.exchange(place.exchange)
        let head = place.direction == .request ? record?.requestHead : record?.responseHead
        isCoded = RecordedHead(head ?? []).contentCodings?.isEmpty != true
    }

    private func read(_ offset: Int64, count: Int64, _ byteLimit: Int) throws -> Content {
        guard let place, offset >= 0, count > 0 else { return Content(isWhole: count == 0) }
        let wanted = Int(min(count, Int64(byteLimit)))
        let isHere =
            offset >= window.start
            && offset - window.start <= Int64(max(0, window.bytes.count - wanted))
            && window.bytes.count >= wanted
        if !isHere {
            window = (offset, [])
            try source.body(ofExchange: place.exchange, place.direction, from: offset) { bytes in
                window.bytes += bytes
                return window.bytes.count < max(wanted, Self.windowSize)
            }
        }
        let bytes = window.bytes.dropFirst(Int(offset - window.start)).prefix(wanted)
        return Content(bytes: Array(bytes), isWhole: Int64(bytes.count) == count)
    }

    /// In bytes: what a body is read ahead, so that small messages do not each open it anew.
    private static let windowSize = 256 * 1024
}
