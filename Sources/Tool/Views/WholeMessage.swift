internal import Base
internal import Contents
internal import HTTPModel
internal import Redaction
internal import Traffic

/// A message put together from its parts, as far as it is held.
struct WholeMessage {
    /// Its first part.
    let first: MessageRecord
    /// Of all parts, in bytes.
    var size: Int64
    /// The start of the content.
    var content: [UInt8] = []
    /// The same as it was recorded, as far as it is asked for.
    var recorded: [UInt8] = []
    /// Whether nothing is missing at the end of the content.
    var isWhole = true
    /// Whether more passed than was recorded.
    var isTruncated = false
    /// Whether something in it was masked.
    var isMasked = false
    /// What a person should know; empty if nothing.
    var detail: String

    fileprivate init(_ first: MessageRecord) {
        self.first = first
        size = 0
        detail = ""
    }
}

/// Puts the messages of a connection together, in their order, without their secrets.
struct MessageAssembly {
    private let contents: MessageContents
    private let byteLimit: Int
    private let recordedLimit: Int
    /// `nil` where nothing is masked.
    private var redaction: MessageRedaction?
    private var held: WholeMessage?

    /// - Parameters:
    ///   - byteLimit: how much of a content is held.
    ///   - recordedLimit: how much of it is held as it was recorded, too.
    init(
        contents: MessageContents, byteLimit: Int, redaction: MessageRedaction?,
        recordedLimit: Int = 0
    ) {
        self.recordedLimit = recordedLimit
        self.contents = contents
        self.byteLimit = byteLimit
        self.redaction = redaction
    }

    /// Takes the next part; returns the message before it, if this one begins another.
    mutating func push(_ part: MessageRecord) throws -> WholeMessage? {
        var finished: WholeMessage?
        if held?.first.number != part.number { finished = finish() }
        var message = held ?? WholeMessage(part)
        var content = try contents.content(of: part, byteLimit: max(byteLimit, recordedLimit))
        message.recorded += content.bytes.prefix(recordedLimit - message.recorded.count)
        if let shown = redaction?.redact(content.bytes, of: part), shown != content.bytes {
            content.bytes = shown
            message.isMasked = true
        }
        message.size = message.size.addingSaturated(part.size)
        // What follows a gap is no part of the start.
        let added = message.isWhole ? content.bytes.prefix(byteLimit - message.content.count) : []
        message.content += added
        if added.count < content.bytes.count || part.isTruncated || !content.isWhole {
            message.isWhole = false
        }
        if part.isTruncated { message.isTruncated = true }
        message.detail += [part.detail, content.remark].filter { !$0.isEmpty }
            .map { (message.detail.isEmpty ? "" : "; ") + $0 }.joined(separator: "; ")
        held = message
        return finished
    }

    /// Returns the last message, if there is one.
    mutating func finish() -> WholeMessage? {
        guard var message = held else { return nil }
        held = nil
        // A piece of a stream goes on in the next one.
        let isWhole = message.isWhole && message.first.kind != .segment
        if redaction != nil {
            let shown = MessageRedaction.redact(content: message.content, isWhole: isWhole)
            if shown != message.content { message.isMasked = true }
            message.content = shown
        }
        return message
    }
}

/// Finds the contents of messages: in their records, or in the bodies of their exchanges.
final class MessageContents {
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

    init(_ source: any TrafficSource) {
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
        isCoded = RecordedHead(head ?? []).values(named: "content-encoding").contains {
            $0.text.lowercased() != "identity"
        }
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
