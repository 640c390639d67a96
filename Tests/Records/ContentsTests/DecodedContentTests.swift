import Base
import TestConditions
import Testing

@testable import Contents

struct DecodedContentTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let coding: String
        let content: [UInt8]
        let bytes: [UInt8]
        let state: DecodedContent.State

        init(
            _ name: String, _ coding: String, _ content: [UInt8], _ bytes: [UInt8],
            _ state: DecodedContent.State
        ) {
            (testDescription, self.coding) = (name, coding)
            (self.content, self.bytes, self.state) = (content, bytes, state)
        }
    }

    private static let hello = Array("hello".utf8)
    private static let packed = deflated(hello)

    static let rows = [
        Row("no coding", "", hello, hello, .whole),
        Row("identity", "Content-Encoding: identity\r\n", hello, hello, .whole),
        Row("one", "Content-Encoding: Deflate\r\n", packed, hello, .whole),
        Row(
            "two, in two fields", "Content-Encoding: deflate\r\ncontent-encoding: ,deflate\r\n",
            deflated(packed), hello, .whole),
        Row("over the limit", "", hello + hello + hello, hello + hello, .cut),
        Row(
            "over the limit, packed", "Content-Encoding: deflate\r\n",
            deflated(hello + hello + hello), hello + hello, .cut),
        Row("cut", "Content-Encoding: deflate\r\n", packed.dropLast(), hello.dropLast(), .cut),
        Row("not in it", "Content-Encoding: gzip\r\n", hello, hello, .undecodable),
        Row("unknown", "Content-Encoding: deflate, rot13\r\n", packed, packed, .undecodable),
        Row(
            "too many", "Content-Encoding: br,br,br,br\r\n", packed, packed, .undecodable),
        Row("unknown, of nothing", "Content-Encoding: rot13\r\n", [], [], .whole),
    ]

    @Test(arguments: rows)
    func decodes(_ row: Row) {
        let head = RecordedHead(Array("HTTP/1.1 200 OK\r\n\(row.coding)\r\n".utf8))
        let decoded = DecodedContent(row.content, head.contentCodings, byteLimit: 10)
        #expect(decoded.bytes == row.bytes)
        #expect(decoded.state == row.state)
    }
}
