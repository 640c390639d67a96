import Base
import HTTPCodecs
import Testing
import Traffic

@testable import Views

struct RecordedExchangeTests {
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
        var source = OneContent()
        for start in stride(from: 0, to: row.content.count, by: length) {
            source.pieces.append(Array(row.content[start...].prefix(length)))
        }
        do {
            let exchange = source.exchange(coding: row.coding)
            var result: [UInt8] = []
            try exchange.visitBody(.response, without: try exchange.codings(.response)) { piece in
                result += piece
                return true
            }
            return result.text
        } catch {
            return (error as? Failure)?.code ?? "\(error)"
        }
    }

    /// A few hundred bytes that would be 80 MiB.
    @Test func stopsWhereTooMuchComes() throws {
        let encoder = ContentEncoder(.gzip)
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        let packed = (0..<80).flatMap { _ in encoder.encode(zeros.span) } + encoder.finish()
        var source = OneContent()
        source.pieces = [ContentEncoder.encode(packed)]
        var count = 0
        var longest = 0
        let failure = #expect(throws: Failure.self) {
            try source.exchange(coding: "gzip, gzip").visitBody(
                .response, without: [.gzip, .gzip]
            ) { piece in
                count += piece.count
                longest = max(longest, piece.count)
                return true
            }
        }
        #expect((64 << 20..<66 << 20).contains(count))
        #expect(longest <= 64 << 10)
        #expect(failure?.code == "content-too-large")
    }
}

/// A capture of one content.
private struct OneContent: TrafficSource {
    var pieces: [[UInt8]] = []

    func exchange(coding: String) -> RecordedExchange {
        var record = ExchangeRecord(
            id: 1, connection: 1, startedAt: Timestamp(microseconds: 0), scheme: .http,
            authority: "a.example")
        record.responseHead = Array("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n\r\n".utf8)
        return RecordedExchange(record, in: self)
    }

    func connections(_ visit: (ConnectionRecord) throws -> Bool) throws {}
    func exchanges(_ visit: (ExchangeRecord) throws -> Bool) throws {}
    func exchange(_ id: Int64) throws -> ExchangeRecord? { nil }

    func body(
        ofExchange id: Int64, _ direction: Direction, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        for piece in pieces where try !visit(piece) { return }
    }

    func messages(
        ofConnection id: Int64, exchange: Int64?, _ visit: (MessageRecord) throws -> Bool
    ) throws {}
}
