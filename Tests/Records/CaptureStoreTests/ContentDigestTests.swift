import Base
import Testing
import Traffic

@testable import CaptureStore

@Suite struct ContentDigestTests {
    private let folder = TemporaryFolder()

    @Test func tellsTheDigestOfEachPart() throws {
        let path = folder.file("a.sallyport")
        let writer = try CaptureWriter(
            path: path, configuration: CaptureConfiguration { [UInt8]("#".utf8) + $0 })
        writer.submit([.exchange(exchange(1, request: [1], response: [2, 3]))])
        writer.submit([.exchange(exchange(2, request: [], response: []))])
        writer.submit([
            .bodyChunk(exchange: 3, direction: .response, sequence: 0, bytes: [4]),
            .bodyChunk(exchange: 3, direction: .response, sequence: 1, bytes: [5]),
        ])
        writer.submit([.exchange(exchange(4, request: [], response: [2, 3]))])
        try writer.close()

        let reader = try CaptureReader(path: path)
        var found: [ContentDigest] = []
        try reader.contentDigests {
            found.append($0)
            return true
        }
        #expect(try reader.digestName == "sha-256")
        #expect(
            found == [
                digest(1, .request, [1]), digest(1, .response, [2, 3]),
                digest(4, .response, [2, 3]), digest(3, .response, [4]),
                digest(3, .response, [5]),
            ])
        var count = 0
        try reader.contentDigests { _ in
            count += 1
            return false
        }
        #expect(count == 1)
    }

    @Test func showsOneStateWhileItIsWritten() throws {
        let path = folder.file("a.sallyport")
        try write(1, to: path)
        let reader = try CaptureReader(path: path)
        #expect(throws: Enough.self) {
            try reader.unchanging {
                #expect(try count(reader) == 1)
                try write(2, to: path)
                #expect(try count(reader) == 1)
                #expect(try reader.unchanging { try count(reader) } == 1)
                throw Enough()
            }
        }
        #expect(try count(reader) == 2)
        #expect(try reader.unchanging { try count(reader) } == 2)
    }

    private struct Enough: Error {}

    private func count(_ reader: CaptureReader) throws -> Int64 {
        try reader.counts().exchanges
    }

    private func write(_ id: Int64, to path: String) throws {
        let writer = try CaptureWriter(
            path: path, configuration: CaptureConfiguration { [UInt8]("#".utf8) + $0 })
        writer.submit([.exchange(exchange(id, request: [1], response: []))])
        try writer.close()
    }

    private func digest(_ id: Int64, _ direction: Direction, _ bytes: [UInt8]) -> ContentDigest {
        ContentDigest(exchange: id, direction: direction, bytes: [UInt8]("#".utf8) + bytes)
    }

    private func exchange(
        _ id: Int64, request: [UInt8], response: [UInt8]
    ) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: id, connection: 1, startedAt: Timestamp(microseconds: 1), scheme: .http,
            authority: "h")
        record.requestBody.bytes = request
        record.requestBody.size = Int64(request.count)
        record.responseBody.bytes = response
        record.responseBody.size = Int64(response.count)
        return record
    }
}
