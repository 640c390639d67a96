import Base
import HTTPCodecs
import HTTPModel
import Testing

@testable import Transfer

/// RFC 9110 §11.6.1.
struct AnswerFactsTests {
    private static let rows: [(String, [String])] = [
        ("Basic realm=\"a\", Digest realm=\"b\"", ["basic", "digest"]),
        ("Basic, basic, BASIC", ["basic"]),
        ("a,b,c,d,e,f,g,h,i,j", ["a", "b", "c", "d", "e", "f", "g", "h"]),
        (String(repeating: "a,", count: 8000) + "Basic", ["a", "basic"]),
        (String(repeating: "a", count: 33) + ", Basic", ["basic"]),
        (String(repeating: "a", count: 32), [String(repeating: "a", count: 32)]),
        ("", []), (", ,1", []),
    ]

    @Test(arguments: rows.indices)
    func readsSchemes(_ index: Int) throws {
        let (value, schemes) = Self.rows[index]
        let bytes = [UInt8]("HTTP/1.1 401 \r\nWWW-Authenticate: \(value)\r\n\r\n".utf8)
        let head = try #require(try ResponseReader.read(bytes.span, limits: .response)).head
        let facts = AnswerFacts(
            url: "http://origin.test/file", head, now: HTTPDate(seconds: 1_780_000_000))
        #expect(facts.schemes == schemes)
    }
}
