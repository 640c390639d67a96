import Base
import HTTPCodecs
import HTTPModel
import Testing

@testable import Transfer

/// RFC 9110 §13.1.5, §14, §15.3.7, §15.5.17.
struct ResumeRuleTests {
    private static let url = "http://origin.test/file"

    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        /// Of the answer that brought the beginning, without a status.
        var first = "ETag: \"a\"\nContent-Length: 1000000\nContent-Type: a/b"
        var offset: Int64 = 500_000
        var mode = ResumePlan.Mode.ifRange
        var isExpected = false
        var isStuck = false
        /// A status and fields.
        let answer: String
        let step: String
        var testDescription: String { name }
    }

    static let parts = [
        Row(
            name: "the rest",
            answer: "206\nETag: \"a\"\nContent-Range: bytes 500000-999999/1000000",
            step: "append 500000-1000000"),
        Row(
            name: "an unknown total",
            answer: "206\nETag: \"a\"\nContent-Range: bytes 500000-999999/*",
            step: "append 500000-1000000"),
        Row(
            name: "less than was asked for",
            answer: "206\nETag: \"a\"\nContent-Range: bytes 500000-600000/1000000",
            step: "append 500000-600001"),
        Row(
            name: "from before",
            answer: "206\nETag: \"a\"\nContent-Range: bytes 499984-999999/1000000",
            step: "append 499984-1000000"),
        Row(
            name: "from behind",
            answer: "206\nETag: \"a\"\nContent-Range: bytes 500016-999999/1000000", step: "next"),
        Row(
            name: "nothing new",
            answer: "206\nETag: \"a\"\nContent-Range: bytes 0-400000/1000000", step: "next"),
        Row(name: "no Content-Range", answer: "206\nETag: \"a\"", step: "next"),
        Row(
            name: "Content-Range twice",
            answer: "206\nETag: \"a\"\nContent-Range: bytes 500000-999999/1000000\n"
                + "Content-Range: bytes 500000-999999/1000000", step: "next"),
        Row(
            name: "backwards", answer: "206\nETag: \"a\"\nContent-Range: bytes 9-1/1000000",
            step: "next"),
        Row(
            name: "beyond 63 bits",
            answer: "206\nETag: \"a\"\nContent-Range: bytes 500000-18446744073709551615/*",
            step: "next"),
        Row(
            name: "another unit",
            answer: "206\nETag: \"a\"\nContent-Range: lines 500000-999999/1000000", step: "next"),
        Row(
            name: "another total",
            answer: "206\nETag: \"a\"\nContent-Range: bytes 500000-999999/1000005", step: "next"),
        Row(
            name: "another length",
            answer: "206\nETag: \"a\"\nContent-Length: 5\n"
                + "Content-Range: bytes 500000-999999/1000000", step: "next"),
        Row(
            name: "another tag",
            answer: "206\nETag: \"b\"\nContent-Range: bytes 500000-999999/1000000",
            step: "restart"),
        Row(
            name: "a weak tag in the place of a strong one",
            answer: "206\nETag: W/\"a\"\nContent-Range: bytes 500000-999999/1000000",
            step: "restart"),
        Row(
            name: "no tag", answer: "206\nContent-Range: bytes 500000-999999/1000000",
            step: "next"),
        Row(
            name: "no tag, and a digest is known", isExpected: true,
            answer: "206\nContent-Range: bytes 500000-999999/1000000",
            step: "append 500000-1000000"),
        Row(
            name: "a coding",
            answer: "206\nETag: \"a\"\nContent-Encoding: gzip\n"
                + "Content-Range: bytes 500000-999999/1000000", step: "restart"),
        Row(
            name: "several parts",
            answer: "206\nETag: \"a\"\nContent-Type: multipart/byteranges; boundary=x",
            step: "next"),
        Row(
            name: "not asked for", offset: 0, mode: .whole,
            answer: "206\nContent-Range: bytes 0-999998/1000000", step: "refuse"),
        Row(
            name: "not asked for, and all of it", offset: 0, mode: .whole,
            answer: "206\nContent-Range: bytes 0-999999/1000000", step: "whole"),
        Row(
            name: "another total of the same date",
            first: "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\n"
                + "Date: Sun, 06 Nov 1994 10:49:37 GMT\nContent-Length: 1000000",
            answer: "206\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\n"
                + "Content-Range: bytes 500000-999999/1500000", step: "next"),
        Row(
            name: "the same date",
            first: "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\n"
                + "Date: Sun, 06 Nov 1994 09:49:37 GMT\nContent-Length: 1000000",
            answer: "206\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\n"
                + "Content-Range: bytes 500000-999999/1000000", step: "append 500000-1000000"),
        Row(
            name: "a date that was young",
            first: "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\n"
                + "Date: Sun, 06 Nov 1994 08:49:38 GMT\nContent-Length: 1000000",
            answer: "206\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\n"
                + "Content-Range: bytes 500000-999999/1000000", step: "next"),
        Row(
            name: "another date",
            first: "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\n"
                + "Date: Sun, 06 Nov 1994 09:49:37 GMT\nContent-Length: 1000000",
            answer: "206\nLast-Modified: Sun, 06 Nov 1994 08:49:38 GMT\n"
                + "Content-Range: bytes 500000-999999/1000000", step: "restart"),
        Row(
            name: "the same digest of the whole",
            first: "Content-Length: 1000000\nRepr-Digest: sha-256=:\(digest("a")):",
            mode: .digest,
            answer: "206\nRepr-Digest: sha-256=:\(digest("a")):\n"
                + "Content-Range: bytes 500000-999999/1000000", step: "append 500000-1000000"),
        Row(
            name: "another digest of the whole",
            first: "ETag: \"a\"\nRepr-Digest: sha-256=:\(digest("a")):",
            answer: "206\nETag: \"a\"\nRepr-Digest: sha-256=:\(digest("b")):\n"
                + "Content-Range: bytes 500000-999999/1000000", step: "restart"),
    ]

    static let others = [
        Row(name: "the first", offset: 0, mode: .whole, answer: "200", step: "whole"),
        Row(
            name: "another version", answer: "200\nETag: \"b\"\nContent-Type: a/b", step: "whole"),
        Row(
            name: "the same, without ranges",
            answer: "200\nETag: \"a\"\nContent-Type: a/b\nContent-Length: 1000000", step: "next"),
        Row(
            name: "the same, at the end of the ladder", mode: .whole,
            answer: "200\nETag: \"a\"\nContent-Type: a/b\nContent-Length: 1000000",
            step: "append 0-1000000"),
        Row(
            name: "the same, of which little is there", offset: 1000,
            answer: "200\nETag: \"a\"\nContent-Type: a/b\nContent-Length: 1000000",
            step: "append 0-1000000"),
        Row(
            name: "a page", answer: "200\nContent-Type: text/html\nContent-Length: 50",
            step: "next"),
        Row(
            name: "a page, asked for the whole", mode: .whole,
            answer: "200\nContent-Type: text/html\nContent-Length: 50",
            step: "wait content-type-changed"),
        Row(
            name: "nothing tells", first: "Content-Length: 1000000", mode: .whole,
            answer: "200\nContent-Length: 1000000", step: "append 0-1000000"),
        Row(name: "412", mode: .ifMatch, answer: "412", step: "restart"),
        Row(name: "412 to If-Range", answer: "412", step: "next"),
        Row(name: "412 to nothing", mode: .whole, answer: "412", step: "refuse"),
        Row(name: "304", answer: "304", step: "next"),
        Row(name: "416, smaller", answer: "416\nContent-Range: bytes */400000", step: "restart"),
        Row(
            name: "416, of the same length as told", answer: "416\nContent-Range: bytes */1000000",
            step: "restart"),
        Row(
            name: "416, all there", first: "ETag: \"a\"",
            answer: "416\nETag: \"a\"\nContent-Range: bytes */500000", step: "complete"),
        Row(
            name: "416, all there, and nothing proves it", first: "ETag: \"a\"",
            answer: "416\nContent-Range: bytes */500000", step: "next"),
        Row(name: "416 without a length", answer: "416", step: "restart"),
        Row(name: "503", answer: "503\nRetry-After: 7", step: "wait status-503 7"),
        Row(
            name: "429 with a date", answer: "429\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT",
            step: "wait status-429 @784111777"),
        Row(name: "500", answer: "500", step: "wait status-500"),
        // Which cannot make parts, and may have the whole.
        Row(name: "500 for each part", isStuck: true, answer: "500", step: "next"),
        Row(
            name: "500 for the whole as well", mode: .whole, isStuck: true, answer: "500",
            step: "wait status-500"),
        Row(
            name: "503 that stays", isStuck: true, answer: "503\nRetry-After: 7",
            step: "wait status-503 7"),
        Row(name: "501", mode: .whole, answer: "501", step: "refuse"),
        Row(name: "501 for a part", answer: "501", step: "next"),
        Row(name: "404", mode: .whole, answer: "404", step: "refuse"),
        Row(name: "404 for a part", answer: "404", step: "next"),
        Row(name: "302", answer: "302\nLocation: /b", step: "redirect /b"),
        Row(name: "302 to nowhere", answer: "302", step: "refuse"),
        Row(
            name: "401", answer: "401\nWWW-Authenticate: Basic realm=\"a\", Digest realm=\"b\"",
            step: "authenticate basic digest"),
        // A proxy's login is not the task's.
        Row(
            name: "407", answer: "407\nProxy-Authenticate: Basic realm=a", step: "refuse"),
        Row(name: "204", mode: .whole, answer: "204", step: "refuse"),
        Row(name: "204 for a part", answer: "204", step: "next"),
    ]

    @Test(arguments: parts + others)
    func judges(_ row: Row) throws {
        let saved =
            row.offset > 0
            ? SavedVersion(url: Self.url, try Self.head("200\n" + row.first)) : nil
        let plan = ResumePlan(row.mode, saved, offset: row.offset)
        let rule = ResumeRule(
            plan, saved, offset: row.offset, isExpected: row.isExpected, isStuck: row.isStuck)
        let facts = AnswerFacts(
            url: Self.url, try Self.head(row.answer), now: HTTPDate(seconds: 1_780_000_000))
        #expect(Self.text(rule.judge(facts)) == row.step)
    }

    private static func digest(_ text: String) -> String {
        Base64.encode([UInt8](repeating: Array(text.utf8)[0], count: 32))
    }

    private static func head(_ text: String) throws -> ResponseHead {
        try ResponseHead.of(text.split(separator: "\n").map(String.init))
    }

    private static func text(_ step: ResumeStep) -> String {
        switch step {
        case .append(let start, let end): "append \(start)-\(end.map(String.init) ?? "")"
        case .takeWhole: "whole"
        case .next: "next"
        case .complete: "complete"
        case .restart: "restart"
        case .wait(nil, let failure): "wait \(failure.code)"
        case .wait(.seconds(let seconds), let failure): "wait \(failure.code) \(seconds)"
        case .wait(.date(let date), let failure): "wait \(failure.code) @\(date)"
        case .refuse: "refuse"
        case .authenticate(let schemes): "authenticate \(schemes.joined(separator: " "))"
        case .redirect(let location): "redirect \(location)"
        }
    }
}

struct ResumePlanTests {
    @Test func asksByWhatItKnows() throws {
        var strong = SavedVersion(url: "http://a.test/")
        strong.entityTag = "\"a\""
        strong.lastModified = "Sun, 06 Nov 1994 08:49:37 GMT"
        strong.date = "Sun, 06 Nov 1994 09:49:37 GMT"
        var weak = strong
        weak.entityTag = "W/\"a\""
        var dated = strong
        dated.entityTag = nil
        func ladder(_ version: SavedVersion?, isExpected: Bool = false) -> [ResumePlan.Mode] {
            ResumePlan.ladder(version, offset: 5, isExpected: isExpected)
        }
        #expect(ladder(strong) == [.ifRange, .ifMatch, .whole])
        // A client must not send a weak tag, and a date only where there was none.
        #expect(ladder(weak) == [.whole])
        #expect(ladder(weak, isExpected: true) == [.digest, .whole])
        #expect(ladder(dated) == [.ifRange, .whole])
        #expect(ResumePlan.ladder(strong, offset: 0, isExpected: false) == [.whole])

        func fields(_ plan: ResumePlan) -> [String] {
            plan.fields.map { "\($0.name): \($0.value)" }.filter { !$0.hasPrefix("Want") }
        }
        #expect(
            fields(ResumePlan(.ifRange, strong, offset: 5)) == [
                "Accept-Encoding: identity", "Range: bytes=5-", "If-Range: \"a\"",
            ])
        #expect(
            fields(ResumePlan(.ifMatch, strong, offset: 5, end: 9)) == [
                "Accept-Encoding: identity", "Range: bytes=5-8", "If-Match: \"a\"",
            ])
        #expect(
            fields(ResumePlan(.ifRange, dated, offset: 5, overlap: 2)).last
                == "If-Range: Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(fields(ResumePlan(.whole, strong, offset: 5)) == ["Accept-Encoding: identity"])
    }
}
