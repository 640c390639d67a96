import Base
import Formats
import Recording
import Testing
import Traffic

@testable import PacketFormats

/// Datagrams that were caught become one record a flow, and what is not read is told.
struct DatagramReadingTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Who sends what to whom.
        let datagrams: [(UInt16, UInt16, [UInt8])]
        let name: String
        let origin: UInt16
        /// Of the messages.
        let directions: [Direction]
        var outcome = ConnectionRecord.Outcome.completed

        init(
            _ name: String, _ datagrams: [(UInt16, UInt16, [UInt8])], _ protocolName: String,
            origin: UInt16, _ directions: [Direction],
            outcome: ConnectionRecord.Outcome = .completed
        ) {
            testDescription = name
            self.datagrams = datagrams
            self.name = protocolName
            self.origin = origin
            self.directions = directions
            self.outcome = outcome
        }
    }

    private static let question: [UInt8] =
        [1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0] + [1, 0x61, 4] + [UInt8]("test".utf8) + [
            0, 0, 1, 0, 1,
        ]
    private static let answer: [UInt8] = [1, 2, 0x81, 0x80] + question.dropFirst(4)
    private static let quic: [UInt8] =
        [0xC3, 0, 0, 0, 1, 4, 1, 2, 3, 4, 0] + [UInt8](repeating: 7, count: 40)

    static let rows = [
        Row(
            "a question with its answer", [(4000, 53, question), (53, 4000, answer)], "dns",
            origin: 53, [.request, .response]),
        Row(
            "an answer alone, to a lower port", [(5000, 4000, answer)], "dns", origin: 5000,
            [.response]),
        Row("unknown, from the higher port", [(4000, 99, [9, 9])], "udp", origin: 99, [.request]),
        Row("unknown, from a low port", [(99, 4000, [9, 9])], "udp", origin: 99, [.response]),
        Row(
            "what the second one tells", [(4000, 5060, [13, 10]), (4000, 5060, sip)], "sip",
            origin: 5060, [.request, .request]),
        Row(
            "QUIC, of which nothing is kept", [(4000, 443, quic), (443, 4000, quic)], "quic",
            origin: 443, [], outcome: .passedThrough),
        Row(
            "an empty datagram among others", [(4000, 99, []), (4000, 99, [1])], "udp", origin: 99,
            [.request]),
    ]

    private static let sip = [UInt8]("OPTIONS sip:a SIP/2.0\r\n\r\n".utf8)

    @Test("Datagrams between two ends are one record", arguments: rows)
    func flows(_ row: Row) throws {
        let sink = RecordingSink()
        let writer = ImportWriter(sink: sink, nextConnection: 1, nextExchange: 1)
        let reading = PacketReading(writer, keyLog: [])
        for (source, target, content) in row.datagrams {
            let ends: [[UInt8]] =
                source == row.origin
                ? [[10, 0, 0, 2], [10, 0, 0, 1]] : [[10, 0, 0, 1], [10, 0, 0, 2]]
            reading.take(
                .packet(
                    HandmadePacket.caught(
                        HandmadePacket.version4(
                            17, HandmadePacket.udp(source, target, content), from: ends[0],
                            to: ends[1]))))
        }
        reading.finish()
        writer.recorder.flush()
        #expect(sink.connections.count == 1)
        let record = try #require(sink.connections.first)
        #expect(record.protocolName == row.name)
        #expect(record.originAddress == "10.0.0.2:\(row.origin)")
        #expect(record.isDatagrams)
        #expect(record.outcome == row.outcome)
        #expect(sink.messages.map(\.direction) == row.directions)
        #expect(sink.messages.allSatisfy { $0.kind == .datagram })
        #expect(record.messageCount == Int64(row.directions.count))
        let size = row.datagrams.reduce(0) { $0 + $1.2.count }
        #expect(record.clientBytes.received + record.clientBytes.sent == Int64(size))
    }

    @Test("What a hello of DTLS offers is kept")
    func hello() throws {
        let name = [UInt8]("a.test".utf8)
        let list: [UInt8] = [0, 0, 0, 11, 0, 9, 0, 0, 6] + name
        let body: [UInt8] =
            [0xFE, 0xFD] + [UInt8](repeating: 7, count: 32) + [0, 0, 0, 2, 0xC0, 0x2B, 1, 0, 0]
            + [UInt8(list.count)] + list
        let size = UInt8(body.count)
        let message = [1, 0, 0, size, 0, 0, 0, 0, 0, 0, 0, size] + body
        let record: [UInt8] =
            [22, 0xFE, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(message.count)] + message
        let sink = read([HandmadePacket.version4(17, HandmadePacket.udp(4000, 5684, record))])
        let found = try #require(sink.connections.first)
        #expect(found.protocolName == "dtls")
        #expect(found.originHost == "a.test")
        #expect(found.clientTLS?.sni == "a.test")
        #expect(found.clientTLS?.ja4?.hasPrefix("dd2d010100_") == true)
        #expect(found.outcome == .passedThrough)
    }

    @Test("A group is never the client")
    func group() throws {
        let sink = read([
            HandmadePacket.version4(
                17, HandmadePacket.udp(5353, 5353, Self.answer), to: [224, 0, 0, 251])
        ])
        let record = try #require(sink.connections.first)
        #expect(record.client == "10.0.0.1:5353")
        #expect(record.protocolName == "mdns")
        #expect(sink.messages.map(\.direction) == [.request])
    }

    @Test("Of a long flow a bounded part is kept, and the rest is told")
    func long() throws {
        let packet = HandmadePacket.version4(
            17, HandmadePacket.udp(4000, 99, [UInt8](repeating: 1, count: 1400)))
        let sink = read(Array(repeating: packet, count: 1000))
        let record = try #require(sink.connections.first)
        #expect(record.messageCount == 748)
        #expect(record.clientBytes.received == 1_400_000)
        #expect(record.notes.map(\.code) == ["datagrams-left-out", "imported-packets"])
    }

    @Test("What is not read is in the capture, a record for each kind")
    func unread() throws {
        let part = HandmadePacket.version4(
            17, [UInt8](repeating: 0, count: 16), identification: 1, place: 0x2000)
        let whole = HandmadePacket.version4(17, HandmadePacket.udp(1, 2, [1, 2, 3]))
        let sink = read([
            HandmadePacket.version4(132, [1, 2]), HandmadePacket.version4(132, [1, 2]),
            HandmadePacket.version4(1, [8, 0]), part, HandmadePacket.version4(50, [1]),
            [UInt8](whole.dropLast()),
        ])
        let told = sink.connections.map { "\($0.protocolName): \($0.cause)" }.sorted()
        #expect(
            told == [
                "esp: not read: 1 packet of ESP (50)", "ip: not read: 1 packet cut short",
                "ip: not read: 1 packet whose fragments are missing",
                "ip: not read: 2 packets of SCTP (132)",
            ])
        let incomplete = sink.connections.filter {
            $0.notes.contains { $0.code == "packets-missing" }
        }
        #expect(incomplete.count == 2)
    }

    private func read(_ packets: [[UInt8]]) -> RecordingSink {
        let sink = RecordingSink()
        let writer = ImportWriter(sink: sink, nextConnection: 1, nextExchange: 1)
        let reading = PacketReading(writer, keyLog: [])
        for packet in packets { reading.take(.packet(HandmadePacket.caught(packet))) }
        reading.finish()
        writer.recorder.flush()
        return sink
    }
}
