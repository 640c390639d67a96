/// A frame of HTTP/2 as it is on the wire (RFC 9113 §4.1), written by hand for tests: nothing of the
/// product's is in it, and it can say what no sound peer says.
package struct Frame: Equatable, Sendable {
    package var type: UInt8
    package var flags: UInt8
    package var stream: UInt32
    package var payload: [UInt8]

    package init(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) {
        self.type = type
        self.flags = flags
        self.stream = stream
        self.payload = payload
    }

    package var bytes: [UInt8] {
        let size = payload.count
        return [UInt8(size >> 16 & 0xFF), UInt8(size >> 8 & 0xFF), UInt8(size & 0xFF), type, flags]
            + big(stream) + payload
    }

    /// Four bytes of the payload as a number: the code of RST_STREAM, and with `from: 4` of GOAWAY.
    package func number(from place: Int = 0) -> UInt32 {
        payload.dropFirst(place).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// Four bytes, most significant first.
package func big(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
}

extension Frame {
    /// A client's first bytes, with empty SETTINGS.
    package static let preface = [UInt8]("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + settings().bytes

    package static func settings(_ pairs: [(UInt16, UInt32)] = []) -> Frame {
        Frame(4, pairs.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 0xFF)] + big($0.1) })
    }

    package static let settingsAcknowledged = Frame(4, flags: 1)

    package static func ping(_ byte: UInt8 = 7) -> Frame {
        Frame(6, [UInt8](repeating: byte, count: 8))
    }

    package static func reset(_ stream: UInt32, _ code: UInt32 = 8) -> Frame {
        Frame(3, stream: stream, big(code))
    }

    package static func goAway(last: UInt32, _ code: UInt32 = 0) -> Frame {
        Frame(7, big(last) + big(code))
    }

    package static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> Frame {
        Frame(8, stream: stream, big(increment))
    }

    package static func data(_ stream: UInt32, _ bytes: [UInt8], ends: Bool = false) -> Frame {
        Frame(0, flags: ends ? 1 : 0, stream: stream, bytes)
    }

    /// HEADERS with a whole block.
    package static func headers(
        _ stream: UInt32, _ fields: [(String, String)], ends: Bool = true
    ) -> Frame {
        Frame(1, flags: ends ? 5 : 4, stream: stream, block(fields))
    }

    /// The fields of a GET, with others behind them.
    package static func get(
        _ path: String = "/", authority: String = "a.test", scheme: String = "https",
        _ more: [(String, String)] = []
    ) -> [(String, String)] {
        [(":method", "GET"), (":scheme", scheme), (":authority", authority), (":path", path)] + more
    }

    /// A header block of literals without indexing and without Huffman (RFC 7541 §6.2.2).
    package static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { name, value in [0] + text(name) + text(value) }
    }

    /// A literal that goes into the peer's table, and can be named by `0xBE` as long as it is the
    /// last (RFC 7541 §6.2.1, §6.1).
    package static func indexed(_ name: String, _ value: String) -> [UInt8] {
        [0x40] + text(name) + text(value)
    }

    private static func text(_ text: String) -> [UInt8] {
        var count = text.utf8.count
        guard count >= 127 else { return [UInt8(count)] + text.utf8 }
        count -= 127
        var length: [UInt8] = [127]
        while count >= 128 {
            length.append(UInt8(count & 127 | 128))
            count >>= 7
        }
        return length + [UInt8(count)] + text.utf8
    }
}

/// Takes frames out of bytes as they come.
package struct FrameParser {
    private var held: [UInt8] = []

    package init() {}

    package mutating func take(_ bytes: [UInt8]) -> [Frame] {
        held += bytes
        var frames: [Frame] = []
        while held.count >= 9 {
            let size = Int(held[0]) << 16 | Int(held[1]) << 8 | Int(held[2])
            guard held.count >= 9 + size else { break }
            frames.append(
                Frame(
                    held[3], flags: held[4],
                    stream: held[5..<9].reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF,
                    Array(held[9..<9 + size])))
            held.removeFirst(9 + size)
        }
        return frames
    }
}
