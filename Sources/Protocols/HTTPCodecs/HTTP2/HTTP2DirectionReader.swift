internal import Base

/// Reads what one side of a connection of HTTP/2 says, for one who is none of its ends and holds
/// nobody to the windows and settings.
///
/// It holds a header block at most; contents are told as they come.
package struct HTTP2DirectionReader {
    private var buffer: [UInt8] = []
    private var position = 0
    private var prefaceLeft: Int
    private var hasSettings = false
    /// The header block that goes on in CONTINUATION.
    private var block: Block?
    private var data: Data?
    /// Of a frame that is not looked at, in bytes.
    private var skipCount = 0
    /// The stream whose end came with its last head.
    private var ended: Int32?
    private let table = HPACKSession()
    /// In bytes, all that was read, and all heads that it became.
    private var readCount = 0
    private var headCount = 0

    private struct Block {
        let stream: Int32
        let endsStream: Bool
        /// The stream that a request is promised for; `nil` for a block of `stream` itself.
        let promised: Int32?
        var bytes: [UInt8]
        var continuationCount = 0
    }

    private struct Data {
        let stream: Int32
        let endsStream: Bool
        var contentLeft: Int
        var paddingLeft: Int
    }

    /// What a client says first (RFC 9113 §3.4).
    package static let preface = [UInt8]("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private static let headLimit = HTTP2Limits().headSize
    /// Heads may be so many times what was read, beyond a start: a byte can stand for the largest
    /// field in the table.
    private static let growthLimit = 256
    /// In bytes.
    private static let growthStart = 16 << 20

    /// - Parameter hasPreface: whether the client's preface comes first.
    package init(hasPreface: Bool) {
        prefaceLeft = hasPreface ? Self.preface.count : 0
    }

    package mutating func append(_ bytes: [UInt8]) {
        buffer.removeFirst(position)
        position = 0
        buffer += bytes
        readCount += bytes.count
    }

    /// The next event, `nil` if more bytes are needed.
    ///
    /// Windows, pings and priorities are passed over; that of `settings` is never told.
    package mutating func next() throws(HTTP2Violation) -> HTTP2Event? {
        if let stream = ended.take() { return .ended(stream: stream) }
        guard try readPreface() else { return nil }
        while true {
            if data != nil {
                if let event = nextContent() { return event }
                guard data == nil else { return nil }
            }
            let count = min(skipCount, restCount)
            position += count
            skipCount -= count
            guard skipCount == 0, restCount >= HTTP2FrameHead.length else { return nil }
            let frame = HTTP2FrameHead(buffer[position...])
            try check(frame)
            if frame.type == .data {
                guard try beginData(frame) else { return nil }
                continue
            }
            guard let payload = try payload(of: frame) else { return nil }
            if let event = try read(frame, payload) { return event }
        }
    }

    private var restCount: Int { buffer.count - position }

    private mutating func readPreface() throws(HTTP2Violation) -> Bool {
        guard prefaceLeft > 0 else { return true }
        let count = min(prefaceLeft, restCount)
        let expected = Self.preface.suffix(prefaceLeft).prefix(count)
        guard buffer[position..<position + count].elementsEqual(expected) else {
            throw .badPreface
        }
        position += count
        prefaceLeft -= count
        return prefaceLeft == 0
    }

    // MARK: Frames

    private func check(_ frame: HTTP2FrameHead) throws(HTTP2Violation) {
        guard hasSettings || (frame.type == .settings && !frame.acknowledges) else {
            throw .broken("the first frame is \(frame.type.name) and not SETTINGS")
        }
        if let block {
            guard frame.type == .continuation, frame.stream == block.stream else {
                throw .broken("a header block is interrupted by \(frame.type.name)")
            }
        } else if frame.type == .continuation {
            throw .broken("CONTINUATION goes on with no header block")
        }
        if frame.isOfStream, frame.stream == 0 {
            throw .broken("\(frame.type.name) is on stream 0")
        }
        guard frame.hasFittingSize else {
            throw .broken("\(frame.type.name) has \(frame.size) bytes")
        }
    }

    /// What of a frame is looked at, behind which the reader then stands.
    ///
    /// - Returns: `nil` if more bytes are needed.
    private mutating func payload(
        of frame: HTTP2FrameHead
    ) throws(HTTP2Violation) -> ArraySlice<UInt8>? {
        let count: Int
        switch frame.type {
        case .headers, .pushPromise, .continuation:
            count = frame.size
            guard (block?.bytes.count ?? 0) + count <= HTTP2FrameReader.blockLimit else {
                throw .flood(
                    HTTP2Flood(code: "h2-header-block", count: HTTP2FrameReader.blockLimit))
            }
        case .reset: count = 4
        case .goAway: count = 8
        default: count = 0
        }
        guard restCount >= HTTP2FrameHead.length + count else { return nil }
        skipCount = frame.size - count
        position += HTTP2FrameHead.length + count
        return buffer[(position - count)..<position]
    }

    private mutating func read(
        _ frame: HTTP2FrameHead, _ payload: ArraySlice<UInt8>
    ) throws(HTTP2Violation) -> HTTP2Event? {
        switch frame.type {
        case .settings: hasSettings = true
        case .reset: return .closed(stream: frame.stream, code: payload.number32)
        case .goAway:
            return .goAway(
                last: Int32(payload.prefix(4).number32 & 0x7FFF_FFFF),
                code: payload.dropFirst(4).number32)
        case .headers, .pushPromise:
            let (promised, fragment) = try fragment(of: frame, payload)
            block = Block(
                stream: frame.stream,
                endsStream: frame.type == .headers && frame.endsStream,
                promised: promised, bytes: [UInt8](fragment))
            return frame.endsHeaders ? try endBlock() : nil
        case .continuation:
            block?.bytes += payload
            block?.continuationCount += 1
            let count = block?.continuationCount ?? 0
            guard count <= HTTP2FrameReader.continuationLimit else {
                throw .flood(HTTP2Flood(code: "h2-continuation-flood", count: count))
            }
            return frame.endsHeaders ? try endBlock() : nil
        default: break
        }
        return nil
    }

    // MARK: Heads

    /// The payload without padding and priority, and the number of a promised stream.
    private func fragment(
        of frame: HTTP2FrameHead, _ payload: ArraySlice<UInt8>
    ) throws(HTTP2Violation) -> (promised: Int32?, ArraySlice<UInt8>) {
        var rest = payload
        var padding = 0
        if frame.isPadded { padding = Int(rest.popFirst() ?? .max) }
        let skipped =
            frame.type == .pushPromise ? 4 : frame.hasPriority ? 5 : 0
        guard rest.count >= skipped + padding else {
            throw .broken("\(frame.type.name) has more padding than bytes")
        }
        let fragment = rest.dropFirst(skipped).dropLast(padding)
        guard frame.type == .pushPromise else { return (nil, fragment) }
        return (Int32(rest.prefix(4).number32 & 0x7FFF_FFFF), fragment)
    }

    private mutating func endBlock() throws(HTTP2Violation) -> HTTP2Event? {
        guard let block = block.take() else { return nil }
        guard var decoded = table.decode(block.bytes.span, headLimit: Self.headLimit) else {
            throw .broken("a header block cannot be decoded")
        }
        headCount += min(decoded.size, Self.headLimit)
        guard headCount <= Self.growthStart + Self.growthLimit * readCount else {
            throw .broken("its heads are more than \(Self.growthLimit) times what was sent")
        }
        let head = decoded.fields.finish()
        if let promised = block.promised {
            return .promise(stream: promised, head, flaw: decoded.flaw)
        }
        if block.endsStream { ended = block.stream }
        if let flaw = decoded.flaw {
            return .malformed(stream: block.stream, head, detail: flaw)
        }
        return head.isTrailers
            ? .trailers(stream: block.stream, head.trailers())
            : .head(stream: block.stream, head)
    }

    // MARK: Contents

    /// - Returns: whether the frame is begun, or more bytes are needed.
    private mutating func beginData(_ frame: HTTP2FrameHead) throws(HTTP2Violation) -> Bool {
        var content = frame.size
        var padding = 0
        if frame.isPadded {
            guard restCount > HTTP2FrameHead.length || content == 0 else { return false }
            padding = content > 0 ? Int(buffer[position + HTTP2FrameHead.length]) : 0
            content -= 1 + padding
            position += 1
        }
        guard content >= 0 else { throw .broken("DATA has more padding than bytes") }
        position += HTTP2FrameHead.length
        data = Data(
            stream: frame.stream, endsStream: frame.endsStream, contentLeft: content,
            paddingLeft: padding)
        return true
    }

    /// - Returns: `nil` if there is none to tell; the frame has ended if `data` is none either.
    private mutating func nextContent() -> HTTP2Event? {
        guard var frame = data.take() else { return nil }
        let content = buffer[position...].prefix(frame.contentLeft)
        position += content.count
        frame.contentLeft -= content.count
        let padding = frame.contentLeft > 0 ? 0 : min(frame.paddingLeft, restCount)
        position += padding
        frame.paddingLeft -= padding
        if frame.contentLeft + frame.paddingLeft > 0 {
            data = frame
        } else if frame.endsStream {
            guard !content.isEmpty else { return .ended(stream: frame.stream) }
            ended = frame.stream
        }
        return content.isEmpty ? nil : .content(stream: frame.stream, [UInt8](content))
    }
}
