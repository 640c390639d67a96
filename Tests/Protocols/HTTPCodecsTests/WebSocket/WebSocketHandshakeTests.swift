import Base
import Testing

@testable import HTTPCodecs

@Suite struct WebSocketHandshakeTests {
    /// RFC 6455 §1.3.
    @Test(arguments: ["dGhlIHNhbXBsZSBub25jZQ==", " dGhlIHNhbXBsZSBub25jZQ==\t"])
    func answersAKey(key: String) {
        var hashed: [UInt8] = []
        let answer = WebSocketHandshake.acceptKey(for: Array(key.utf8)[...]) { bytes in
            hashed = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
            return hex("b37a4f2c c0624f16 90f64606 cf385945 b2bec4ea")
        }
        #expect(hashed.text == "dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
        #expect(answer == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test(arguments: [
        ("dGhlIHNhbXBsZSBub25jZQ==", true), (" dGhlIHNhbXBsZSBub25jZQ== ", true), ("", false),
        ("dGhlIHNhbXBsZSBub25j", false), ("dGhlIHNhbXBsZSBub25jZWE=", false), ("*", false),
    ])
    func judgesAKey(key: String, isSound: Bool) {
        #expect(WebSocketHandshake.isSound(key: Array(key.utf8)[...]) == isSound)
    }
}
