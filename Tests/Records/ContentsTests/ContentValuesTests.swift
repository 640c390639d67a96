import Base
import TestConditions
import Testing

@testable import Contents

/// What the readers of structured contents find, and what it costs when somebody means ill.
struct ContentValuesTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let read: @Sendable ([UInt8]) -> ContentValues
        let bytes: [UInt8]
        /// Such as `a.*=1`.
        let values: [String]
        var isWhole = true
        var testDescription: String { name }
    }

    @Test(arguments: messagePackRows + cborRows + protobufRows + listRows + queryRows)
    func reads(_ row: Row) {
        let found = row.read(row.bytes)
        #expect(found.values.map(\.shown) == row.values)
        #expect(found.isWhole == row.isWhole)
    }

    /// What was whole before the cut is found, and nothing else is made up but its last value.
    @Test(arguments: messagePackRows + cborRows + protobufRows + listRows + queryRows)
    func survivesEveryCut(_ row: Row) {
        for count in 0..<row.bytes.count {
            #expect(row.read(Array(row.bytes.prefix(count))).values.count <= 64)
        }
        for place in row.bytes.indices {
            var changed = row.bytes
            changed[place] ^= 0xFF
            _ = row.read(changed)
        }
    }

    private static let nestings: [(String, [UInt8])] = [
        ("lists in lists", [UInt8](repeating: 0x91, count: 100_000)),
        ("maps in maps", Array([[UInt8]](repeating: [0x81, 0xA1, 0x61], count: 50_000).joined())),
        ("maps as keys", [UInt8](repeating: 0x81, count: 100_000)),
        (
            "a list that claims all",
            [0xDD, 0xFF, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 0xC0, count: 9000)
        ),
        ("tags on tags", [UInt8](repeating: 0xC1, count: 100_000)),
        ("endless lists", [UInt8](repeating: 0x9F, count: 100_000)),
        ("a text that claims all", [0xDB, 0xFF, 0xFF, 0xFF, 0xFF]),
        ("messages in messages", Self.nested(40)),
        ("brackets", Array(String(repeating: "{a(b:[", count: 20_000).utf8)),
        (
            "dictionaries",
            Array(("<plist>" + String(repeating: "<dict><key>a</key>", count: 20_000)).utf8)
        ),
    ]

    @Test(arguments: nestings)
    func boundsNesting(_ name: String, _ bytes: [UInt8]) {
        let readers = [
            MessagePackReader.read(bytes[...]), CBORReader.read(bytes[...]),
            ProtobufReader.read(bytes[...]), ProtobufReader.read(calls: bytes),
            GraphQLReader.read(bytes[...]), PropertyListReader.read(bytes),
        ]
        for found in readers {
            #expect(found.values.count <= 4096)
            #expect(found.values.allSatisfy { $0.path.count <= 32 && $0.bytes.count <= 8192 })
        }
    }

    /// Ten lists, each of which names the next one ten times: 10¹⁰ values in 200 bytes.
    @Test(.processorTime(below: .seconds(60))) func boundsLists() {
        var objects: [[UInt8]] = (1...10).map { number in
            [0xAA] + [UInt8](repeating: UInt8(number), count: 10)
        }
        objects.append([0x08])
        let found = PropertyListReader.read(Self.list(objects))
        #expect(!found.isWhole && found.values.count <= 4096)
        let text = [UInt8](repeating: 0x61, count: 1 << 19)
        let large = PropertyListReader.read(
            Self.list([
                [0xAF, 0x11, 0x0F, 0xA0] + [UInt8](repeating: 1, count: 4000),
                [0x5F, 0x12, 0, 8, 0, 0] + text,
            ]))
        #expect(large.isWhole && large.values.count == 4000)
        let loop = PropertyListReader.read(Self.list([[0xA1, 0]]))
        #expect(!loop.isWhole && loop.values.isEmpty)
    }

    @Test func provesMessages() {
        let message = Array("\u{0A}\u{08}nora.doe\u{12}\u{05}hello\u{18}\u{07}".utf8)
        #expect(StructuredContent.proven(message)?.values.values.count == 3)
        #expect(StructuredContent.proven(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)) == nil)
        var state: UInt64 = 0x5EED
        for _ in 0..<2000 {
            let noise = (0..<64).map { _ -> UInt8 in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            }
            #expect(StructuredContent.proven(noise) == nil)
        }
    }

    /// Messages in one another, the innermost empty.
    private static func nested(_ depth: Int) -> [UInt8] {
        (0..<depth).reduce([0x08, 0x01]) { inner, _ in [0x0A, UInt8(inner.count)] + inner }
    }

    /// A binary property list of these objects, the first on top.
    private static func list(_ objects: [[UInt8]]) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += [UInt8(bytes.count >> 8 & 255), UInt8(bytes.count & 255)]
            bytes += object
        }
        let table = bytes.count
        func wide(_ number: Int) -> [UInt8] { (0..<8).map { UInt8(number >> (56 - $0 * 8) & 255) } }
        return bytes + offsets + [0, 0, 0, 0, 0, 0, 2, 1] + wide(objects.count) + wide(0)
            + wide(table)
    }
}

extension ContentValue {
    fileprivate var shown: String {
        let value = kind == .bytes || kind == .fixed ? "0x" + bytes.hex : bytes.text
        return path.map(\.text).joined(separator: ".") + "=" + value
    }
}

private typealias Row = ContentValuesTests.Row

private func hex(_ text: String) -> [UInt8] { bytes(fromHex: text) ?? [] }

/// By the examples of the specification (msgpack.org).
private let messagePackRows: [Row] =
    [
        ("its own example", "82a7636f6d70616374c3a6736368656d6100", ["compact=true", "schema=0"]),
        ("small numbers", "0affd0fb", ["=10", "=-1", "=-5"]),
        (
            "numbers", "cdffffd1fffbcf0000010000000000d3fffffffffffffffe",
            ["=65535", "=-5", "=1099511627776", "=-2"]
        ),
        ("floating point", "ca3fc00000cb3ff8000000000000", ["=1.5", "=1.5"]),
        (
            "lists in maps", "81a161920193c0c2a3c3a90a",
            ["a.*=1", "a.*.*=null", "a.*.*=false", "a.*.*=é\n"]
        ),
        (
            "bytes and extensions", "c4020001d60100000001c70305010203",
            ["=0x0001", "=0x0100000001", "=0x05010203"]
        ),
        ("a long text", "d903616263da0003616263", ["=abc", "=abc"]),
        ("keys that are numbers", "8101a161", ["1=a"]),
    ].map { name, bytes, values in
        Row(
            name: "MessagePack: \(name)", read: { MessagePackReader.read($0[...]) },
            bytes: hex(bytes), values: values)
    } + [
        Row(
            name: "MessagePack: the reserved byte", read: { MessagePackReader.read($0[...]) },
            bytes: hex("93a161c1"), values: ["*=a"], isWhole: false)
    ]

/// By the examples of RFC 8949 appendix A.
private let cborRows: [Row] = [
    ("numbers", "18183863", ["=24", "=-100"]),
    (
        "large numbers", "1bffffffffffffffff3bffffffffffffffff",
        ["=18446744073709551615", "=-18446744073709551616"]
    ),
    (
        "floating point", "f93c00f97bfffa47c35000fb3ff199999999999af90001f9c400",
        ["=1.0", "=65504.0", "=100000.0", "=1.1", "=5.960464477539063e-08", "=-4.0"]
    ),
    ("words", "f4f5f6f7", ["=false", "=true", "=null", "=null"]),
    ("a map", "a26161016162820203", ["a=1", "b.*=2", "b.*=3"]),
    ("a map without a length", "bf61610161629f0203ffff", ["a=1", "b.*=2", "b.*=3"]),
    ("a text in pieces", "7f657374726561646d696e67ff", ["=streaming"]),
    ("bytes", "4401020304", ["=0x01020304"]),
    ("a tagged text", "c074323031332d30332d32315432303a30343a30305a", ["=2013-03-21T20:04:00Z"]),
    ("keys that are numbers", "a201020304", ["1=2", "3=4"]),
].map { name, bytes, values in
    Row(
        name: "CBOR: \(name)", read: { CBORReader.read($0[...]) }, bytes: hex(bytes), values: values
    )
}

/// By the examples of protobuf.dev's encoding guide.
private let protobufRows: [Row] =
    [
        ("a number", "089601", ["1=150"], true),
        ("a text", "120774657374696e67", ["2=testing"], true),
        ("a message", "1a03089601", ["3.1=150"], true),
        (
            "fixed numbers", "0d0000c03f11000000000000f83f",
            ["1=0x0000c03f", "2=0x000000000000f83f"], true
        ),
        ("bytes", "0a03ff00fe", ["1=0xff00fe"], true),
        ("cut short", "0896010a05", ["1=150"], false),
        ("field 0", "0001", [], false),
    ].map { name, bytes, values, isWhole in
        Row(
            name: "protobuf: \(name)", read: { ProtobufReader.read($0[...]) }, bytes: hex(bytes),
            values: values, isWhole: isWhole)
    } + [
        Row(
            name: "gRPC", read: { ProtobufReader.read(calls: $0) },
            bytes: hex("0000000003089601" + "00000000021203"), values: ["1=150"], isWhole: false),
        Row(
            name: "gRPC-Web", read: { ProtobufReader.read(calls: $0) },
            bytes: hex("0000000003089601" + "8000000010677270632d7374617475733a20300d0a"),
            values: ["1=150"]),
        Row(
            name: "gRPC in gzip", read: { ProtobufReader.read(calls: $0) },
            bytes: hex("01000000171f8b0800000000000203e398c60800a0954ea103000000"),
            values: ["1=150"]),
        Row(
            name: "gRPC, compressed", read: { ProtobufReader.read(calls: $0) },
            bytes: hex("0100000002aaaa"), values: [], isWhole: false),
    ]

private let listRows: [Row] = [
    Row(
        name: "binary property list of Python", read: { PropertyListReader.read($0) },
        bytes: hex(
            "62706c6973743030d5010203040506090d0e0f5464656570546c697374516e55746f6b656e5175d107"
                + "0854646174614200ffa30a0b0c09233ff80000000000006100e913fffffffffffffffb5f10105a6b"
                + "33765139785732704c72375479311300000100000000000813181d1f25272a2f32363740434c5f00"
                + "00000000000101000000000000001000000000000000000000000000000068"),
        values: [
            "deep.data=0x00ff", "list.*=true", "list.*=1.5", "list.*=é", "n=-5",
            "token=Zk3vQ9xW2pLr7Ty1", "u=1099511627776",
        ]),
    Row(
        name: "property list of XML", read: { PropertyListReader.read($0) },
        bytes: Array(
            """
            <?xml version="1.0"?><!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "a.dtd">
            <plist version="1.0"><dict><!-- c --><key>deep</key>
            <dict><key>a&amp;b</key><string>x &lt; y</string><key>none</key><array/></dict>
            <key>list</key><array><true/><real> 1.5 </real><dict><key>k</key><false/></dict></array>
            <key>c</key><string><![CDATA[<z>]]></string></dict></plist>
            """.utf8),
        values: [
            "deep.a&b=x < y", "list.*=true", "list.*=1.5", "list.*.k=false", "c=<z>",
        ]),
    Row(
        name: "no property list", read: { PropertyListReader.read($0) },
        bytes: Array("<a><string>x</string></a>".utf8), values: ["*=x"], isWhole: false),
]

private let queryRows: [Row] = [
    Row(
        name: "GraphQL: arguments", read: { GraphQLReader.read($0[...]) },
        bytes: Array(
            """
            # a comment "x"
            mutation Login($pin: Int = 5) { a: login(input: {password: "hun\\u0074er", n: -1.5,
              tags: ["x", "y"], on: true}, pin: $pin, deep: [{k: \"""a "b" c\"""}]) { token } }
            """.utf8),
        values: [
            "Login.pin=Int", "a=login", "a.input.password=hunter", "a.input.n=-1.5",
            "a.input.tags.*=x",
            "a.input.tags.*=y", "a.input.on=true", "a.deep.*.k=a \"b\" c",
        ]),
    Row(
        name: "GraphQL: a selection", read: { GraphQLReader.read($0[...]) },
        bytes: Array("{ me { name friends(first: 3) { id } } }".utf8), values: ["friends.first=3"]),
    Row(
        name: "GraphQL: no end", read: { GraphQLReader.read($0[...]) },
        bytes: Array("{ a(b: \"c".utf8), values: [], isWhole: false),
]
