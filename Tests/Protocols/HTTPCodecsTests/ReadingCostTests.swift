import HTTPModel
import Testing

@testable import HTTPCodecs

/// What it costs to read a head whose bytes come one by one.
@Suite struct ReadingCostTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let start: String
        let line: String
        let end: String
        let expected: HTTP1Violation?

        var bytes: [UInt8] {
            let count = (Self.size - start.utf8.count - end.utf8.count) / line.utf8.count
            return [UInt8]((start + String(repeating: line, count: count) + end).utf8)
        }

        static let size = HeadLimits.response.blockLimit - 8
    }

    static let rows = [
        Row(
            testDescription: "fields that end in LF", start: "HTTP/1.1 200 OK\n", line: "a:\n",
            end: "\n", expected: .tooManyFields),
        Row(
            testDescription: "a strict start, then fields that end in LF",
            start: "HTTP/1.1 200 OK\r\n" + String(repeating: strictField, count: 4), line: "a:\n",
            end: "\n", expected: .tooManyFields),
        Row(
            testDescription: "folded lines",
            start: "HTTP/1.1 200 OK\r\n" + String(repeating: strictField, count: 2) + "a: b\r\n",
            line: " \r\n", end: "\r\n", expected: nil),
        Row(
            testDescription: "folded lines that end in LF", start: "HTTP/1.1 200 OK\na: b\n",
            line: " \n", end: "\n", expected: nil),
    ]

    private static let strictField = "b: " + String(repeating: "c", count: 8000) + "\r\n"

    /// A look at each line costs more than a thousand times the length.
    @Test(arguments: rows)
    func looksAtBytesOnlyAFewTimes(row: Row) {
        let bytes = row.bytes
        var cost = 0
        for count in 1...bytes.count {
            let seen = bytes.span.extracting(first: count)
            if LineReader.isWorthReading(seen, alreadyScanned: count - 1) { cost += count }
        }
        #expect(cost < 100 * bytes.count)
        guard LineReader.isWorthReading(bytes.span, alreadyScanned: bytes.count - 1) else {
            Issue.record("does not look at the end")
            return
        }
        switch readResponse(bytes, limits: .response, alreadyScanned: bytes.count - 1) {
        case .violation(let violation): #expect(violation == row.expected)
        case .head: #expect(row.expected == nil)
        case .incomplete: Issue.record("did not end")
        }
    }

    /// Fields are counted as they are mended: nothing else bounds them before the end.
    @Test func countsFieldsWhileMending() {
        let bytes = [UInt8]("HTTP/1.1 200 OK\n\(String(repeating: "a:\n", count: 300))".utf8)
        #expect(readResponse(bytes, limits: .response) == .violation(.tooManyFields))
        let trailers = [UInt8]("0\n\(String(repeating: "a:\n", count: 300))".utf8)
        var reader = BodyReader(.chunked, trailerLimits: .response)
        #expect(throws: HTTP1Violation.tooManyFields) {
            var rest = trailers[...]
            while !rest.isEmpty {
                let piece = Array(rest)
                rest = rest.dropFirst(try reader.consume(piece.span) { _ in })
            }
        }
    }

    /// A long trailer section is not looked at with each line, and is still seen to end.
    @Test func readsLongTrailersHoweverTheyCome() throws {
        let bytes = [UInt8]("0\na: b\n\(String(repeating: " \n", count: 2_000))\n".utf8)
        var reader = BodyReader(.chunked, trailerLimits: .response)
        for byte in bytes {
            while try reader.consume([byte].span, payload: { _ in }) == 0 {}
        }
        #expect(reader.isComplete)
        #expect(reader.leniency.contains(.obsoleteFold))
    }
}
