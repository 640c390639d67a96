import Base
import Testing

@testable import HTTPCodecs

/// Bytes of one direction, and what they must be told as.
struct WebSocketRow: Sendable, CustomTestStringConvertible {
    var name: String
    var role: WebSocketRole
    var extensions: PerMessageDeflate?
    var limits = WebSocketLimits()
    var bytes: [UInt8]
    var expected: [WebSocketStory.Entry]
    var isAtBoundary = true
    var testDescription: String { name }

    init(
        _ name: String, _ role: WebSocketRole, _ bytes: [UInt8],
        _ expected: [WebSocketStory.Entry], deflate: PerMessageDeflate? = nil,
        limits: WebSocketLimits = WebSocketLimits(), isAtBoundary: Bool = true
    ) {
        self.name = name
        self.role = role
        self.bytes = bytes
        self.expected = expected
        self.limits = limits
        self.isAtBoundary = isAtBoundary
        extensions = deflate
    }

    /// Bytes that break the protocol in their first frame, behind a sound one.
    init(
        refused name: String, from role: WebSocketRole = .server, _ bytes: [UInt8],
        _ violation: WebSocketViolation, deflate: PerMessageDeflate? = nil,
        limits: WebSocketLimits = WebSocketLimits()
    ) {
        let sound = frame(.ping, "p", from: role)
        let offset = UInt64(sound.count)
        self.init(
            name, role, sound + bytes + [0xFF, 0xFF],
            [.ping([0x70]), .violation(violation, offset: offset), .raw(bytes + [0xFF, 0xFF])],
            deflate: deflate, limits: limits, isAtBoundary: false)
    }
}

extension [WebSocketStory.Entry] {
    static func text(_ content: String, isCompressed: Bool = false) -> Self {
        message(.text, [UInt8](content.utf8), isCompressed: isCompressed)
    }

    static func message(
        _ kind: WebSocketMessageKind, _ content: [UInt8], isCompressed: Bool = false
    ) -> Self {
        [.begin(kind, isCompressed: isCompressed)] + (content.isEmpty ? [] : [.content(content)])
            + [.end(UInt64(content.count), isTruncated: false)]
    }
}

func hex(_ text: String) -> [UInt8] {
    bytes(fromHex: text.filter { $0 != " " }) ?? []
}

let resetting = PerMessageDeflate(serverResets: true, clientResets: true)

enum WebSocketRows {
    private static let packed = PerMessageDeflate()
    private static let thousand = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    private static let large = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }

    /// RFC 6455 §5.7.
    static let examples: [WebSocketRow] = [
        .init("unmasked text", .server, hex("81 05 48 65 6c 6c 6f"), .text("Hello")),
        .init("masked text", .client, hex("81 85 37fa213d 7f9f4d5158"), .text("Hello")),
        .init("fragmented text", .server, hex("01 03 48656c 80 02 6c6f"), .text("Hello")),
        .init("ping", .server, hex("89 05 48656c6c6f"), [.ping(Array("Hello".utf8))]),
        .init("pong", .client, hex("8a 85 37fa213d 7f9f4d5158"), [.pong(Array("Hello".utf8))]),
        .init(
            "256 bytes", .server, hex("82 7e 0100") + thousand.prefix(256),
            .message(.binary, Array(thousand.prefix(256)))),
    ]

    /// RFC 7692 §7.2.3.
    static let packedExamples: [WebSocketRow] = [
        .init(
            "one block", .server, hex("c1 07 f248cdc9c90700"), .text("Hello", isCompressed: true),
            deflate: packed),
        .init(
            "one block in two frames", .server, hex("41 03 f248cd 80 04 c9c90700"),
            .text("Hello", isCompressed: true), deflate: packed),
        .init(
            "context taken over", .server, hex("c1 07 f248cdc9c90700 c1 05 f200110000"),
            .text("Hello", isCompressed: true) + .text("Hello", isCompressed: true),
            deflate: packed),
        .init(
            "context reset", .server, hex("c1 07 f248cdc9c90700 c1 07 f248cdc9c90700"),
            .text("Hello", isCompressed: true) + .text("Hello", isCompressed: true),
            deflate: resetting),
        .init(
            "a block without compression", .server, hex("c1 0b 00 0500 faff 48656c6c6f 00"),
            .text("Hello", isCompressed: true), deflate: packed),
        .init(
            "a last block", .server, hex("c1 08 f348cdc9c9070000"),
            .text("Hello", isCompressed: true), deflate: packed),
        .init(
            "context taken over behind a last block", .server,
            hex("c1 08 f348cdc9c9070000 c1 05 f200110000"),
            .text("Hello", isCompressed: true) + .text("Hello", isCompressed: true),
            deflate: packed),
        .init(
            "a last block and nothing behind it", .server,
            hex("c1 07 f348cdc9c90700 c1 05 f200110000"),
            .text("Hello", isCompressed: true) + .text("Hello", isCompressed: true),
            deflate: packed),
        .init(
            "two blocks", .server, hex("c1 0d f24805000000ffffcac9c90700"),
            .text("Hello", isCompressed: true), deflate: packed),
        .init("empty", .server, hex("c1 01 00"), .text("", isCompressed: true), deflate: packed),
        .init(
            "not every message is packed", .server,
            hex("c1 07 f248cdc9c90700 81 01 41 c1 05 f200110000"),
            .text("Hello", isCompressed: true) + .text("A") + .text("Hello", isCompressed: true),
            deflate: packed),
        .init(
            "masked", .client,
            frame(.text, hex("f248cdc9c90700"), from: .client, isCompressed: true),
            .text("Hello", isCompressed: true), deflate: packed),
    ]

    static let sound: [WebSocketRow] = [
        .init("nothing", .server, [], []),
        .init("empty messages", .server, hex("8100 8200"), .text("") + .message(.binary, [])),
        .init("empty masked", .client, hex("8180 01020304"), .text("")),
        .init(
            "empty fragments", .server, hex("0100 0000 8000"), .text("")),
        .init(
            "1000 bytes masked", .client, frame(.binary, thousand, from: .client),
            .message(.binary, thousand)),
        .init(
            "length in 16 bits", .server, hex("82 7e 007e") + thousand.prefix(126),
            .message(.binary, Array(thousand.prefix(126)))),
        .init(
            "length longer than it must be", .server,
            hex("81 7f 0000000000000001 41 81 7e 0001 42"),
            .text("A") + .text("B")),
        .init(
            "control inside a message", .client,
            frame(.text, "a", from: .client, isFinal: false) + frame(.ping, "1", from: .client)
                + frame(.continuation, "b", from: .client, isFinal: false)
                + frame(.pong, "", from: .client) + frame(.continuation, "c", from: .client),
            [
                .begin(.text, isCompressed: false), .content([0x61]), .ping([0x31]),
                .content([0x62]), .pong([]), .content([0x63]), .end(3, isTruncated: false),
            ]),
        .init(
            "close inside a message", .server, hex("0101 61 8802 03e8 8001 62"),
            [
                .begin(.text, isCompressed: false), .content([0x61]), .close(1000, ""),
                .content([0x62]), .end(2, isTruncated: false),
            ]),
        .init("close without a code", .server, hex("8800"), [.close(nil, "")]),
        .init(
            "close with a reason", .client,
            frame(.close, hex("03e9 c3bc"), from: .client), [.close(1001, "ü")]),
        .init("ping behind a close", .server, hex("8800 8900"), [.close(nil, ""), .ping([])]),
        .init(
            "longest control", .server, frame(.ping, Array(thousand.prefix(125))),
            [.ping(Array(thousand.prefix(125)))]),
        .init("open head", .server, hex("81"), [], isAtBoundary: false),
        .init("open masked head", .client, hex("81 82 01 02"), [], isAtBoundary: false),
        .init(
            "open frame", .server, hex("8102 41"),
            [.begin(.text, isCompressed: false), .content([0x41])], isAtBoundary: false),
        .init(
            "open message", .server, hex("0101 41"),
            [.begin(.text, isCompressed: false), .content([0x41])], isAtBoundary: false),
        .init(
            "content past the limit", .client,
            frame(.binary, thousand, from: .client, isFinal: false)
                + frame(.continuation, "xyz", from: .client)
                + frame(.text, "123456", from: .client),
            [
                .begin(.binary, isCompressed: false), .content([0, 31, 62, 93, 124]),
                .end(1003, isTruncated: true), .begin(.text, isCompressed: false),
                .content(Array("12345".utf8)), .end(6, isTruncated: true),
            ], limits: WebSocketLimits(contentLimit: 5)),
        .init(
            "content at the limit", .server, frame(.text, "12345"), .text("12345"),
            limits: WebSocketLimits(contentLimit: 5)),
        .init(
            "packed content past the limit", .server, hex("c1 07 f248cdc9c90700 c1 05 f200110000"),
            [
                .begin(.text, isCompressed: true), .content(Array("Hel".utf8)),
                .end(5, isTruncated: true), .begin(.text, isCompressed: true),
                .content(Array("Hel".utf8)), .end(5, isTruncated: true),
            ], deflate: packed, limits: WebSocketLimits(contentLimit: 3)),
    ]

    /// Too long to be cut everywhere.
    static let long: [WebSocketRow] = [
        .init(
            "length in 64 bits", .client, frame(.binary, large, from: .client),
            .message(.binary, large)),
        .init("unmasked", .server, frame(.binary, large), .message(.binary, large)),
    ]

    static let refused: [WebSocketRow] = [
        .init(refused: "RSV1", hex("c1 01 41"), .reservedBits),
        .init(refused: "RSV2", hex("a1 01 41"), .reservedBits, deflate: packed),
        .init(refused: "RSV3", hex("92 01 41"), .reservedBits, deflate: packed),
        .init(refused: "RSV1 on a ping", hex("c9 00"), .reservedBits, deflate: packed),
        .init(refused: "opcode 3", hex("83 00"), .reservedOpcode),
        .init(refused: "opcode 7", hex("87 00"), .reservedOpcode),
        .init(refused: "opcode 11", hex("8b 00"), .reservedOpcode),
        .init(refused: "opcode 15", hex("8f 00"), .reservedOpcode),
        .init(refused: "unmasked client", from: .client, hex("81 00"), .unmaskedClientFrame),
        .init(refused: "masked server", hex("81 80 00000000"), .maskedServerFrame),
        .init(refused: "fragmented ping", hex("09 00"), .fragmentedControl),
        .init(refused: "fragmented close", hex("08 00"), .fragmentedControl),
        .init(refused: "long ping", hex("89 7e 007e"), .controlTooLong),
        .init(refused: "very long pong", hex("8a 7f 0000000000010000"), .controlTooLong),
        .init(refused: "2^63", hex("82 7f 8000000000000000"), .invalidLength),
        .init(
            refused: "2^64 - 1", from: .client, hex("82 ff ffffffffffffffff 01020304"),
            .invalidLength),
        .init(
            refused: "long length in 16 bits", hex("82 7e 007d"), .invalidLength,
            limits: WebSocketLimits(allowsLongLengths: false)),
        .init(
            refused: "long length in 64 bits", hex("82 7f 000000000000ffff"), .invalidLength,
            limits: WebSocketLimits(allowsLongLengths: false)),
        .init(refused: "continuation", hex("80 00"), .unexpectedContinuation),
        .init(refused: "open continuation", hex("00 01 41"), .unexpectedContinuation),
        .init(refused: "HTTP", Array("HTTP/1.1 200 OK".utf8), .reservedBits),
    ]

    /// What shows behind content that was told.
    static let refusedLater: [WebSocketRow] = [
        .init(
            "message inside a message", .server, hex("0101 41 8101 42"),
            [
                .begin(.text, isCompressed: false), .content([0x41]),
                .violation(.missingContinuation, offset: 3), .raw(hex("8101 42")),
            ], isAtBoundary: false),
        .init(
            "message behind a close", .server, hex("8800 8101 42"),
            [
                .close(nil, ""), .violation(.dataAfterClose, offset: 2), .raw(hex("8101 42")),
            ], isAtBoundary: false),
        .init(
            "close of one byte", .server, hex("8801 03 8900"),
            [
                .close(nil, "\u{3}"), .violation(.invalidClosePayload, offset: 0),
                .raw(hex("8900")),
            ], isAtBoundary: false),
        .init(
            "close reason that is no UTF-8", .server, hex("8803 03e8 ff"),
            [.close(1000, "\u{FFFD}"), .violation(.invalidText, offset: 0)], isAtBoundary: false),
        .init(
            "close reason that ends early", .server, hex("8803 03e8 c3"),
            [.close(1000, "\u{FFFD}"), .violation(.invalidText, offset: 0)], isAtBoundary: false),
        .init(
            "RSV1 on a continuation", .server, hex("4102 f248 c005 cdc9c90700"),
            [
                .begin(.text, isCompressed: true), .content([0x48]),
                .violation(.reservedBits, offset: 4), .raw(hex("c005 cdc9c90700")),
            ], deflate: packed, isAtBoundary: false),
        .init(
            "invalid text", .client, frame(.text, hex("4142ff43"), from: .client) + [1],
            [
                .begin(.text, isCompressed: false), .content([0x41, 0x42]),
                .violation(.invalidText, offset: 0), .raw([0xFF ^ 0x21, 0x43 ^ 0x3D, 1]),
            ], isAtBoundary: false),
        .init(
            "invalid text past the limit", .server, hex("81 03 4142ff"),
            [
                .begin(.text, isCompressed: false), .content([0x41]),
                .violation(.invalidText, offset: 0), .raw([0xFF]),
            ], limits: WebSocketLimits(contentLimit: 1), isAtBoundary: false),
        .init(
            "character over two frames", .server, hex("8900 0101 e2 8001 28"),
            [
                .begin(.text, isCompressed: false), .content([0xE2]),
                .violation(.invalidText, offset: 5), .raw([0x28]),
            ].withPing, isAtBoundary: false),
        .init(
            "text that ends early", .server, hex("8102 41e2 8900"),
            [
                .begin(.text, isCompressed: false), .content([0x41, 0xE2]),
                .violation(.invalidText, offset: 0), .raw([0x89, 0x00]),
            ], isAtBoundary: false),
        .init(
            "broken deflate data", .server, hex("8900 c103 ffffff 8900"),
            [.begin(.text, isCompressed: true), .violation(.invalidDeflate, offset: 2)].withPing,
            deflate: packed, isAtBoundary: false),
        .init(
            "deflate data that ends early", .server, hex("c106 f248cdc9c907 8900"),
            [
                .begin(.text, isCompressed: true), .content(Array("Hello".utf8)),
                .violation(.invalidDeflate, offset: 0), .raw([0x89, 0x00]),
            ], deflate: packed, isAtBoundary: false),
        .init(
            "no deflate data at all", .server, hex("c100 8900"),
            [
                .begin(.text, isCompressed: true), .violation(.invalidDeflate, offset: 0),
                .raw([0x89, 0x00]),
            ], deflate: packed, isAtBoundary: false),
        .init(
            "reference past the start", .server, hex("c105 f200110000"),
            [
                .begin(.text, isCompressed: true), .content([0x48]),
                .violation(.invalidDeflate, offset: 0),
            ], deflate: packed, isAtBoundary: false),
        .init(
            "reference into a message that was to be forgotten", .server,
            hex("c107 f248cdc9c90700 c105 f200110000"),
            .text("Hello", isCompressed: true) + [
                .begin(.text, isCompressed: true), .content([0x48]),
                .violation(.invalidDeflate, offset: 9),
            ], deflate: resetting, isAtBoundary: false),
    ]
}

extension [WebSocketStory.Entry] {
    fileprivate var withPing: Self { [.ping([])] + self }
}
