internal import Base
internal import Contents
internal import HTTPModel
internal import Traffic

/// Spells exchanges as frames of HTTP/2 (RFC 9113 §4): every field literally, so that no table
/// between the heads is needed (RFC 7541 §6.2.3).
struct HTTP2LegWriter {
    private var isBegun = false
    private var lastStream: UInt32 = 0
    /// Those of the client that are open, and some that are not any more.
    private var opened = Heap<UInt32>()
    /// Those among `opened` that are not open any more.
    private var closed = Heap<UInt32>()

    private enum Frame {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let reset: UInt8 = 3
        static let settings: UInt8 = 4
        static let promise: UInt8 = 5
        static let continuation: UInt8 = 9
    }

    /// In bytes: of a payload, as peers must take it.
    private static let frameLimit = 1 << 14

    /// What both sides say first, once; empty behind that.
    mutating func preface() -> [(Direction, [UInt8])] {
        guard !isBegun else { return [] }
        isBegun = true
        let start = [UInt8]("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        let settings = Self.frame(Frame.settings, flags: 0, stream: 0, [])
        let acknowledgement = Self.frame(Frame.settings, flags: 1, stream: 0, [])
        return [
            (.request, start + settings), (.response, settings + acknowledgement),
            (.request, acknowledgement),
        ]
    }

    /// The stream of an exchange.
    ///
    /// - Parameter recorded: 0 if it was not recorded, or was another one on this leg.
    mutating func stream(recorded: Int32) -> UInt32 {
        if recorded > 0 {
            // What a server promised may refer to the last.
            if !recorded.isMultiple(of: 2) { lastStream = max(lastStream, UInt32(recorded)) }
            return UInt32(recorded)
        }
        lastStream += lastStream == 0 ? 1 : 2
        return lastStream
    }

    /// An exchange begins on a stream, which may carry promises if it is the client's.
    mutating func open(_ stream: UInt32) {
        if !stream.isMultiple(of: 2) { opened.add(stream) }
    }

    /// The exchange on a stream that was opened has ended.
    mutating func close(_ stream: UInt32) {
        guard !stream.isMultiple(of: 2) else { return }
        closed.add(stream)
        while let least = closed.first, least == opened.first {
            _ = opened.pop()
            _ = closed.pop()
        }
    }

    func requestHead(
        _ head: [UInt8], scheme: String, authority: String, stream: UInt32, isEnd: Bool
    ) -> [UInt8] {
        let block = requestBlock(head, scheme: scheme, authority: authority)
        return headers(block, stream: stream, isEnd: isEnd)
    }

    /// A request that the server answers on `stream` without having been asked (RFC 9113 §8.4).
    ///
    /// It comes on the first stream of the client that is open, or else on the last one.
    func promise(
        _ head: [UInt8], scheme: String, authority: String, stream: UInt32
    ) -> [UInt8] {
        let block = requestBlock(head, scheme: scheme, authority: authority)
        return headers(
            stream.bigEndianBytes + block, stream: opened.first ?? max(1, lastStream), isEnd: false,
            type: Frame.promise)
    }

    private func requestBlock(_ head: [UInt8], scheme: String, authority: String) -> [UInt8] {
        let text = RecordedHead(head)
        var block: [UInt8] = []
        Self.add(":method", text.method, to: &block)
        let host = text.first(named: "host") ?? [UInt8](authority.utf8)[...]
        let named = text.first(named: ":protocol")
        if !text.asksForTunnel {
            Self.add(":scheme", [UInt8](scheme.utf8)[...], to: &block)
            Self.add(":path", text.target, to: &block)
        }
        Self.add(":authority", host, to: &block)
        if let named { Self.add(":protocol", named, to: &block) }
        addFields(of: text, exceptHost: true, to: &block)
        return block
    }

    func responseHead(_ head: [UInt8], stream: UInt32, isEnd: Bool) -> [UInt8] {
        let text = RecordedHead(head)
        var block: [UInt8] = []
        Self.add(":status", [UInt8](String(text.status).utf8)[...], to: &block)
        addFields(of: text, exceptHost: false, to: &block)
        return headers(block, stream: stream, isEnd: isEnd)
    }

    func content(_ bytes: [UInt8], stream: UInt32) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Self.frameLimit)
            rest = rest.dropFirst(piece.count)
            result += Self.frame(Frame.data, flags: 0, stream: stream, piece)
        }
        return result
    }

    func end(trailers: [UInt8], stream: UInt32) -> [UInt8] {
        guard !trailers.isEmpty else {
            return Self.frame(Frame.data, flags: 1, stream: stream, [])
        }
        var block: [UInt8] = []
        addFields(of: RecordedHead(trailers: trailers), exceptHost: false, to: &block)
        return headers(block, stream: stream, isEnd: true)
    }

    func reset(stream: UInt32, code: UInt32) -> [UInt8] {
        Self.frame(Frame.reset, flags: 0, stream: stream, code.bigEndianBytes[...])
    }

    /// Fields of one connection of HTTP/1 have no place here (RFC 9113 §8.2.2).
    private func addFields(of text: RecordedHead, exceptHost: Bool, to block: inout [UInt8]) {
        for field in text.fields where field.name.first != 0x3A {
            let name = field.name.map(\.asciiLowercased)
            if exceptHost, name.elementsEqual("host".utf8) { continue }
            if !text.isHTTP2, KnownField(name: name.span).isOfConnection { continue }
            Self.add(name[...], field.value[...], to: &block)
        }
    }

    private func headers(
        _ block: [UInt8], stream: UInt32, isEnd: Bool, type first: UInt8 = Frame.headers
    ) -> [UInt8] {
        var result: [UInt8] = []
        var rest = block[...]
        var type = first
        repeat {
            let piece = rest.prefix(Self.frameLimit)
            rest = rest.dropFirst(piece.count)
            var flags: UInt8 = rest.isEmpty ? 4 : 0
            if isEnd, type == Frame.headers { flags |= 1 }
            result += Self.frame(type, flags: flags, stream: stream, piece)
            type = Frame.continuation
        } while !rest.isEmpty
        return result
    }

    private static func frame(
        _ type: UInt8, flags: UInt8, stream: UInt32, _ payload: ArraySlice<UInt8>
    ) -> [UInt8] {
        UInt32(payload.count).bigEndianBytes.dropFirst() + [type, flags] + stream.bigEndianBytes
            + payload
    }

    private static func add(_ name: String, _ value: ArraySlice<UInt8>, to block: inout [UInt8]) {
        add([UInt8](name.utf8)[...], value, to: &block)
    }

    /// A literal that no one may put into a table (RFC 7541 §6.2.3), without Huffman coding.
    private static func add(
        _ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, to block: inout [UInt8]
    ) {
        block.append(0x10)
        for text in [name, value] {
            addLength(text.count, to: &block)
            block += text
        }
    }

    /// An integer behind a prefix of seven bits (RFC 7541 §5.1).
    private static func addLength(_ length: Int, to block: inout [UInt8]) {
        guard length >= 127 else { return block.append(UInt8(length)) }
        block.append(127)
        var rest = length - 127
        while rest >= 128 {
            block.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        block.append(UInt8(rest))
    }
}
