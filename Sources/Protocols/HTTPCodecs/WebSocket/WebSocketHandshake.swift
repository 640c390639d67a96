internal import Base
internal import HTTPModel

/// The keys of the opening handshake (RFC 6455 §4).
package enum WebSocketHandshake {
    /// Of the nonce in Sec-WebSocket-Key, in bytes.
    private static let nonceLength = 16
    private static let identifier = [UInt8]("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)

    /// The value of Sec-WebSocket-Accept that answers a Sec-WebSocket-Key (RFC 6455 §4.2.2).
    ///
    /// - Parameters:
    ///   - key: the field's value; white space around it does not count.
    ///   - sha1: the SHA-1 digest of bytes, 20 of them.
    package static func acceptKey(
        for key: ArraySlice<UInt8>, sha1: (Span<UInt8>) -> [UInt8]
    ) -> String {
        let input = Array(key.trimmingWhitespace) + identifier
        return Base64.encode(sha1(input.span))
    }

    /// Whether a Sec-WebSocket-Key is base64 of 16 bytes (RFC 6455 §4.1).
    package static func isSound(key: ArraySlice<UInt8>) -> Bool {
        Base64.decode(key.trimmingWhitespace)?.count == nonceLength
    }
}
