/// Content of one stream of HTTP/2 that waits to be sent.
struct OutgoingBody {
    var bytes: [UInt8] = []
    /// What was sent of them.
    var start = 0
    var isEnded = false
    var trailers: HTTP2Fields?
    var isDeferred = false
    var wantsDrain = false

    var count: Int { bytes.count - start }

    /// Whether it has held something.
    var hasRoom: Bool { bytes.capacity > 0 }

    mutating func append(_ content: Span<UInt8>) {
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            start = 0
        }
        unsafe content.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    /// The room of a small content that was sent, empty, for the next one; `nil` if there is none.
    mutating func takeRoom() -> [UInt8]? {
        guard 1..<16_384 ~= bytes.capacity else { return nil }
        var room: [UInt8] = []
        swap(&room, &bytes)
        start = 0
        room.removeAll(keepingCapacity: true)
        return room
    }
}
