import Base

/// A client of HTTP/2 in bytes, for what a test says of its own: fields without compression, and
/// frames as they come (RFC 9113 §4.1).
final class RawHTTP2 {
    struct Frame {
        let type: UInt8
        let flags: UInt8
        let stream: UInt32
        let payload: [UInt8]
    }

    let wire: Wire
    /// Frames of streams that were not asked for yet.
    private var held: [Frame] = []

    /// Sends the preface and acknowledges nothing yet.
    init(_ wire: Wire) throws {
        self.wire = wire
        try wire.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        try send(4, stream: 0, [])
    }

    func send(_ type: UInt8, flags: UInt8 = 0, stream: UInt32, _ payload: [UInt8]) throws {
        let size = payload.count
        try wire.send(
            [UInt8(size >> 16), UInt8(size >> 8 & 0xFF), UInt8(size & 0xFF), type, flags]
                + (0..<4).map { UInt8(truncatingIfNeeded: stream >> (24 - 8 * $0)) } + payload)
    }

    /// Literal fields without indexing (RFC 7541 §6.2.2).
    func request(
        stream: UInt32, endsStream: Bool = true, _ fields: [(name: String, value: String)]
    ) throws {
        var block: [UInt8] = []
        for field in fields {
            block += [0, UInt8(field.name.utf8.count)] + field.name.utf8
            block += [UInt8(field.value.utf8.count)] + field.value.utf8
        }
        try send(1, flags: endsStream ? 5 : 4, stream: stream, block)
    }

    func get(stream: UInt32, _ authority: String, _ fields: [(String, String)] = []) throws {
        let line = [
            (":method", "GET"), (":scheme", "http"), (":authority", authority), (":path", "/"),
        ]
        try request(stream: stream, line + fields)
    }

    func connect(stream: UInt32, _ authority: String, _ fields: [(String, String)] = []) throws {
        let line = [(":method", "CONNECT"), (":authority", authority)]
        try request(stream: stream, endsStream: false, line + fields)
    }

    func data(stream: UInt32, _ bytes: [UInt8], endsStream: Bool = false) throws {
        try send(0, flags: endsStream ? 1 : 0, stream: stream, bytes)
    }

    /// The next frame of a stream; those of the connection are answered as they must be.
    func next(of stream: UInt32) throws -> Frame {
        if let index = held.firstIndex(where: { $0.stream == stream }) {
            return held.remove(at: index)
        }
        while true {
            let head = try wire.read(9)
            let size = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            let frame = Frame(
                type: head[3], flags: head[4],
                stream: head[5...8].reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF,
                payload: try wire.read(size))
            if frame.type == 4, frame.flags & 1 == 0 { try send(4, flags: 1, stream: 0, []) }
            if frame.type == 7 { throw WireFailure("GOAWAY: \(frame.payload)") }
            guard frame.stream != 0, frame.type != 8 else { continue }
            if frame.stream == stream { return frame }
            held.append(frame)
        }
    }

    /// The data of a stream up to `count` bytes.
    func readData(of stream: UInt32, _ count: Int) throws -> [UInt8] {
        var all: [UInt8] = []
        while all.count < count {
            let frame = try next(of: stream)
            guard frame.type == 0 else { throw WireFailure("a frame of type \(frame.type)") }
            all += frame.payload
        }
        return all
    }
}
