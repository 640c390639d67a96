import Base
import Testing

@testable import Traffic

struct RecordedHeadTests {
    @Test func findsValuesInAnyShape() {
        let head = RecordedHead(
            [UInt8](
                "GET / HTTP/1.1\r\nA: 1\r\na :2\nB: x\r\nA:\r\n a: folded\r\n\ta: too\r\nno field\r\n: y\r\n\r\n"
                    .utf8))
        #expect(head.values(named: Array("a".utf8)).map(\.text) == ["1", "2", ""])
        #expect(head.values(named: Array("b".utf8)).map(\.text) == ["x"])
        #expect(head.values(named: Array("c".utf8)).isEmpty)
    }

    @Test(arguments: ["", "\r", "\n", "\r\n", " ", "  ", ":", "HTTP/", "\u{0}"])
    func anyBytesAreAHead(_ text: String) {
        let head = RecordedHead([UInt8](text.utf8))
        #expect(head.values(named: Array("a".utf8)).isEmpty)
        #expect(head.method.count + head.target.count <= text.utf8.count)
    }
}
