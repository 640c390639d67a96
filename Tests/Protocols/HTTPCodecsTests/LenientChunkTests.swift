import Base
import HTTPModel
import Testing

@testable import HTTPCodecs

/// Chunks of responses that are not as RFC 9112 §7.1 has them.
@Suite struct LenientChunkTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let input: String
        let content: String
        /// What goes to a strict recipient, or the violation.
        let expected: String

        init(_ name: String, _ input: String, _ content: String, _ expected: String) {
            testDescription = name
            self.input = input
            self.content = content
            self.expected = expected
        }
    }

    static let rows: [Row] = [
        Row("nothing odd", "1\r\na\r\n0\r\n\r\n", "a", "1\r\na\r\n0\r\n\r\n"),
        Row("LF all over", "1\na\n0\n\n", "a", "1\r\na\r\n0\r\n\r\n"),
        Row("LF behind a size", "1\na\r\n0\r\n\r\n", "a", "1\r\na\r\n0\r\n\r\n"),
        Row("LF behind a chunk", "1\r\n\n\n0\r\n\r\n", "\n", "1\r\n\n\r\n0\r\n\r\n"),
        Row("LF behind an extension", "1;a\nb\r\n0 ;c\n\n", "b", "1;a\r\nb\r\n0 ;c\r\n\r\n"),
        Row("LF in trailers", "0\nA: 1\nB: 2\r\n\n", "", "0\r\nA: 1\r\nB: 2\r\n\r\n"),
        Row("a fold in trailers", "0\r\nA: 1\r\n 2\r\n\r\n", "", "0\r\nA: 1 2\r\n\r\n"),
        Row("a blank before a colon", "0\r\nA : 1\r\n\r\n", "", "0\r\nA: 1\r\n\r\n"),
        Row(
            "trailers that do not pass", "0\nA: 1\nHost: 2\n\n", "", "0\r\nA: 1\r\n\r\n"),
        Row("LF before a size", "\n1\r\na\r\n0\r\n\r\n", "", "bare-lf"),
        Row("LF before the next size", "1\r\na\r\n\n0\r\n\r\n", "a", "bare-lf"),
        Row("CR alone behind a size", "1\ra\r\n0\r\n\r\n", "", "bare-cr"),
        Row("CR alone in trailers", "0\nA: 1\rB: 2\n\n", "", "bare-cr"),
    ]

    /// What a relay makes of it, which passes on all that is not withheld.
    private func relay(_ bytes: [UInt8], cuts: [Int]) -> (content: String, sent: String) {
        var reader = BodyReader(.chunked, trailerLimits: .response)
        var content: [UInt8] = []
        var sent: [UInt8] = []
        var start = 0
        for end in cuts + [bytes.count] {
            while start < end, !reader.isComplete {
                let piece = Array(bytes[start..<end])
                do throws(HTTP1Violation) {
                    let count = try reader.consume(piece.span) { content += piece[$0] }
                    sent += piece[..<(count - reader.withheldCount)]
                    if reader.lacksReturn { sent.append(0x0D) }
                    start += count
                } catch {
                    return (content.text, error.code)
                }
            }
        }
        sent += reader.closing
        return (content.text, reader.isComplete ? sent.text : "incomplete")
    }

    @Test(arguments: rows)
    func areMendedHoweverTheyAreCut(row: Row) {
        let bytes = [UInt8](row.input.utf8)
        for cuts in [[], Array(bytes.indices)] + bytes.indices.map({ [$0] }) {
            let (content, sent) = relay(bytes, cuts: cuts)
            #expect(content == row.content, "\(cuts)")
            #expect(sent == row.expected, "\(cuts)")
        }
    }

    @Test func tellsWhatWasMended() throws {
        for (input, leniency) in [
            ("1\r\na\r\n0\r\n\r\n", []), ("1\na\r\n0\r\n\r\n", .bareLF),
            ("0\r\nA: 1\r\n 2\r\n\r\n", .obsoleteFold),
        ] as [(String, HeadLeniency)] {
            var reader = BodyReader(.chunked, trailerLimits: .response)
            var rest = [UInt8](input.utf8)
            while !rest.isEmpty {
                let count = try reader.consume(rest.span) { _ in }
                rest.removeFirst(count)
            }
            #expect(reader.leniency == leniency)
        }
    }
}
