internal import Base
internal import HTTPCodecs
internal import HTTPModel

/// The answer to a request for a WebSocket (RFC 6455 §4.2.2), for the key of this time.
enum WebSocketHead {
    /// - Returns: a 101, whatever was recorded; extensions are left out, since the messages are
    ///   framed anew without them.
    static func answering(
        _ request: Fields, _ recorded: ResponseHead, sha1: ([UInt8]) -> [UInt8]
    ) -> ResponseHead {
        var text =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        if let key = request.first(named: "sec-websocket-key") {
            let accept = WebSocketHandshake.acceptKey(for: key) { bytes in
                sha1(unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) })
            }
            text += "Sec-WebSocket-Accept: \(accept)\r\n"
        }
        var bytes = [UInt8](text.utf8)
        for slice in recorded.fields.slices {
            let name = recorded.fields.name(slice)
            guard !dropped.contains(where: { name.equalsIgnoringCase($0) }) else { continue }
            bytes += name + [0x3A, 0x20] + recorded.fields.value(slice) + [0x0D, 0x0A]
        }
        return RecordedHeads.response(bytes + [0x0D, 0x0A]) ?? recorded
    }

    private static let dropped: [StaticString] = [
        "upgrade", "connection", "sec-websocket-accept", "sec-websocket-extensions",
        "content-length", "transfer-encoding",
    ]
}
