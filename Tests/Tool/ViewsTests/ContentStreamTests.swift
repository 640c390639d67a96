import Base
import HTTPCodecs
import Testing

@testable import Views

struct ContentStreamTests {
    /// `printf 'hello, hello, hello\n' | gzip -n -9`.
    private static let gzip: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9,
        0xD7, 0x51, 0xC8, 0x40, 0xA2, 0xB8, 0x00, 0xE7, 0x42, 0x6E, 0x52, 0x14, 0x00, 0x00, 0x00,
    ]

    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let coding: String
        let content: [UInt8]
        /// The text, or the code of the failure.
        let result: String
        var testDescription: String { name }
    }

    static let rows = [
        Row(name: "gzip", coding: "gzip", content: gzip, result: "hello, hello, hello\n"),
        Row(
            name: "any case and spaces", coding: " , X-GZIP", content: gzip,
            result: "hello, hello, hello\n"),
        Row(name: "identity", coding: "identity", content: [0x61], result: "a"),
        Row(name: "unknown", coding: "gzip, rot13", content: gzip, result: "unknown-coding"),
        Row(
            name: "too many", coding: "gzip,gzip,gzip,gzip", content: gzip, result: "unknown-coding"
        ),
        Row(name: "cut", coding: "gzip", content: gzip.dropLast(9), result: "content-malformed"),
        Row(name: "no gzip", coding: "gzip", content: [1, 2, 3, 4], result: "content-malformed"),
        Row(name: "nothing", coding: "gzip", content: [], result: ""),
    ]

    @Test(arguments: rows)
    func decodesInPieces(_ row: Row) {
        for length in [1, 7, 1000] {
            #expect(decode(row, length) == row.result)
        }
    }

    private func decode(_ row: Row, _ length: Int) -> String {
        do {
            let stream = try ContentStream.decoding(row.coding)
            var result: [UInt8] = []
            for start in stride(from: 0, to: row.content.count, by: length) {
                let end = min(start + length, row.content.count)
                _ = try stream.push(Array(row.content[start..<end])) { piece in
                    result += piece
                    return true
                }
            }
            return (result + (try stream.finish())).text
        } catch {
            return (error as? Failure)?.code ?? "\(error)"
        }
    }

    /// A few hundred bytes that would be 80 MiB.
    @Test func stopsWhereTooMuchComes() throws {
        let encoder = GzipEncoder()
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        let packed = (0..<80).flatMap { _ in encoder.encode(zeros.span) } + encoder.finish()
        let stream = try ContentStream.decoding("gzip, gzip")
        var count = 0
        var longest = 0
        let goesOn = try stream.push(GzipEncoder.encode(packed)) { piece in
            count += piece.count
            longest = max(longest, piece.count)
            return true
        }
        #expect(!goesOn)
        #expect((64 << 20..<66 << 20).contains(count))
        #expect(longest <= 64 << 10)
        let failure = #expect(throws: Failure.self) { try stream.finish() }
        #expect(failure?.code == "content-too-large")
    }

    @Test func decodesTheStartOfAWhole() {
        #expect(decoded(Self.gzip, "gzip", byteLimit: 5)?.text == "hello")
        #expect(
            decoded(Array(Self.gzip.dropLast(9)), "gzip", byteLimit: 100)?.text.hasPrefix("hel")
                == true)
        #expect(decoded([1, 2, 3, 4], "gzip", byteLimit: 100) == nil)
        #expect(decoded(Self.gzip, "rot13", byteLimit: 100) == nil)
    }
}
