import Base
import Formats
import TestConditions
import Testing
import Traffic

@testable import PacketFormats

struct PacketLegTests {
    @Test("A promise comes on the first stream that is still open")
    func promises() throws {
        var written: [UInt8] = []
        var file = PacketFileWriter { written += $0 }
        var leg = Self.leg
        let steps: [(Int32, ExchangePart)] = [
            (1, .requestHead), (3, .requestHead), (2, .requestHead), (1, .responseEnd),
            (4, .requestHead), (3, .responseEnd), (6, .requestHead),
        ]
        for (stream, part) in steps {
            try leg.write(part, of: Self.exchange(stream), at: RecordedTraffic.start, &file)
        }
        try file.flush()
        for (parent, promised) in [(1, 2), (3, 4), (3, 6)] as [(UInt8, UInt8)] {
            let frame: [UInt8] = [5, 4, 0, 0, 0, parent, 0, 0, 0, promised]
            #expect(written.contains(frame), "\(promised)")
        }
    }

    /// To find the stream of a promise does not take a look at each that is open.
    @Test(.processorTime(below: .seconds(60))) func manyPromises() throws {
        var size = 0
        var file = PacketFileWriter { size += $0.count }
        var leg = Self.leg
        let count: Int32 = 100_000
        try leg.write(.requestHead, of: Self.exchange(1), at: RecordedTraffic.start, &file)
        for stream in 1...count {
            let exchange = Self.exchange(2 * stream)
            try leg.write(.requestHead, of: exchange, at: RecordedTraffic.start, &file)
        }
        try file.flush()
        #expect(size > 100 * Int(count))
    }

    private static var leg: PacketLeg {
        PacketLeg(
            LegPlan(
                role: .client, connection: 1,
                client: PacketEndpoint(address: [127, 0, 0, 1], port: 40_000),
                origin: PacketEndpoint(address: [127, 0, 0, 1], port: 443),
                openedAt: RecordedTraffic.start))
    }

    private static func exchange(_ stream: Int32) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: Int64(stream), connection: 1, startedAt: RecordedTraffic.start, scheme: .https,
            authority: "a")
        record.requestHead = [UInt8]("GET / HTTP/2.0\r\n\r\n".utf8)
        record.protocolName = "HTTP/2"
        record.stream = stream
        record.durationMicroseconds = 1
        return record
    }
}
