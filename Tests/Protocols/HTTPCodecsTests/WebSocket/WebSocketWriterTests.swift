import Base
import Testing

@testable import HTTPCodecs

@Suite struct WebSocketWriterTests {
    /// RFC 6455 §5.7.
    @Test(arguments: [
        ("81 05 48656c6c6f", WebSocketOpcode.text, nil, true),
        ("81 85 37fa213d 7f9f4d5158", .text, 0x37FA_213D, true),
        ("01 05 48656c6c6f", .text, nil, false), ("89 05 48656c6c6f", .ping, nil, true),
        ("8a 85 37fa213d 7f9f4d5158", .pong, 0x37FA_213D, true),
    ])
    func writes(expected: String, opcode: WebSocketOpcode, key: UInt32?, isFinal: Bool) {
        var output: [UInt8] = [7]
        let payload = Array("Hello".utf8)
        WebSocketWriter.write(
            opcode, payload.span, isFinal: isFinal, maskingKey: key, into: &output)
        #expect(output == [7] + hex(expected))
    }

    @Test(arguments: [
        (0, "c2 00"), (125, "c2 7d"), (126, "c2 7e 007e"), (65_535, "c2 7e ffff"),
        (65_536, "c2 7f 0000000000010000"),
    ])
    func writesTheShortestLength(count: Int, head: String) {
        let payload = [UInt8](repeating: 9, count: count)
        #expect(frame(.binary, payload, isCompressed: true) == hex(head) + payload)
    }

    @Test(arguments: [nil, 1000 as UInt16])
    func writesClose(code: UInt16?) {
        var output: [UInt8] = []
        let reason = [UInt8](repeating: 0x61, count: 200)
        WebSocketWriter.writeClose(code: code, reason: reason.span, into: &output)
        #expect(output == (code == nil ? hex("8800") : hex("887d 03e8") + reason.prefix(123)))
    }

    @Test func masksEveryLength() {
        let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        for count in 0..<125 {
            let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let masked = payload.enumerated().map { $1 ^ key[$0 % 4] }
            #expect(
                frame(.binary, payload, from: .client) == [0x82, 0x80 | UInt8(count)] + key
                    + masked)
        }
    }
}
