import Base
import Contents
import Testing

@testable import Formats

struct TextTests {
    @Test(arguments: [
        ("2026-03-09T07:05:01.250Z", 1_773_039_901_250_000),
        ("2026-03-09T08:05:01.250+01:00", 1_773_039_901_250_000),
        ("2026-03-09T01:35:01.25-0530", 1_773_039_901_250_000),
        ("2026-03-09T07:05:01.2500001Z", 1_773_039_901_250_000),
        ("2026-03-09 07:05:01", 1_773_039_901_000_000),
        ("2026-03-09T07:05Z", 1_773_039_900_000_000),
        ("2026-13-09T07:05:01Z", nil), ("yesterday", nil), ("", nil),
        ("2026-03-09T07:05:01.250 Z", nil),
    ])
    func readsDates(_ text: String, _ microseconds: Int64?) {
        #expect(Timestamp(iso8601: Array(text.utf8))?.microseconds == microseconds)
    }

    @Test(arguments: [
        ("Wed, 09 Jun 2021 10:18:14 GMT", 1_623_233_894),
        ("Wednesday, 09-Jun-21 10:18:14 GMT", 1_623_233_894),
        ("Wed Jun  9 10:18:14 2021", 1_623_233_894),
        ("9 jun 21 10:18:14", 1_623_233_894),
        ("0", nil), ("Wed, 09 Jun 2021", nil), ("32 Jun 2021 10:18:14", nil),
    ])
    func readsCookieDates(_ text: String, _ seconds: Int64?) {
        let time = Timestamp(cookieDate: Array(text.utf8)[...])
        #expect(time?.microseconds == seconds.map { $0 * 1_000_000 })
    }

    @Test func writesDates() {
        #expect(
            Timestamp(microseconds: 1_773_039_901_250_000).iso8601 == "2026-03-09T07:05:01.250Z")
        #expect(
            Timestamp(microseconds: 1_773_039_901_250_007).iso8601
                == "2026-03-09T07:05:01.250007Z")
    }

    /// However a string is cut into parts, what acts on a reader is escaped.
    @Test(arguments: 1...8)
    func writesStringsInParts(_ size: Int) throws {
        let text = Array("a\u{202E}né 漢 😀\"\\\n\u{E0041}€".utf8) + [0xE2, 0x80]
        var written: [UInt8] = []
        var writer = JSONWriter { written += $0 }
        writer.beginString()
        for start in stride(from: 0, to: text.count, by: size) {
            try writer.string(Array(text[start..<min(start + size, text.count)]))
        }
        writer.endString()
        try writer.flush()
        #expect(
            written == Array(#""a\u202ené 漢 😀\"\\\n\udb40\udc41€"#.utf8) + [0xE2, 0x80, 0x22])
    }

    @Test func removesFields() {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip,\r\n br\r\nA: 1\r\ncontent-encoding:x\r\n\r\n"
        #expect(
            RecordedHead.removing("content-encoding", from: Array(head.utf8)).text
                == "HTTP/1.1 200 OK\r\nA: 1\r\n\r\n")
    }

    @Test func takesMultipartApart() throws {
        let parts = [
            MultipartText.Part(name: Array("a".utf8), content: Array("one\r\ntwo".utf8)),
            MultipartText.Part(
                name: Array("f".utf8), fileName: Array("x.txt".utf8),
                contentType: Array("text/plain".utf8), content: []),
        ]
        let content = MultipartText.spell(parts, boundary: Array("b0".utf8))
        let read = try #require(
            MultipartText.parts(of: content, boundary: Array("b0".utf8)))
        #expect(read == parts)
        for cut in content.indices {
            _ = MultipartText.parts(of: Array(content[..<cut]), boundary: Array("b0".utf8))
        }
        #expect(MultipartText.parts(of: content, boundary: Array("other".utf8)) == nil)
    }
}
