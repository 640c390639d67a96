import Base
import Findings
import Formats
import Recording
import TLS
import Testing
import Traffic

@testable import PacketFormats

/// What an import could not read is no clean verdict, whatever the reason.
@Suite struct NothingUnreadTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let packets: [CaughtPacket]
        var isCut = false
        let reasons: [InconclusiveReason]

        init(
            _ name: String, _ packets: [CaughtPacket], isCut: Bool = false,
            _ reasons: InconclusiveReason...
        ) {
            testDescription = name
            self.packets = packets
            self.isCut = isCut
            self.reasons = reasons
        }
    }

    @Test(arguments: rows) func isInconclusive(_ row: Row) throws {
        let verdict = try Self.verdict(row.packets.map { .packet($0) }, isCut: row.isCut)
        #expect(verdict.reasons.map(\.code) == row.reasons.map(\.rawValue), "\(verdict.text)")
        #expect(verdict.kind == (row.reasons.isEmpty ? .clean : .inconclusive), "\(verdict.text)")
    }

    /// A file with all packets of TLS and without its keys.
    @Test(arguments: ["http/1.1", "h2"], [true, false])
    func needsKeys(_ name: String, _ hasKeys: Bool) throws {
        var traffic = RecordedTraffic()
        let connection = traffic.addConnection("TLSv1.3", "TLS_AES_128_GCM_SHA256", alpn: name)
        traffic.addExchange(on: connection, http2: name == "h2" ? 1 : nil, response: [1, 2, 3])
        var options = ExportOptions()
        options.withSecrets = true
        var file = PacketFileReader()
        _ = try PacketExporter().export(traffic, options) { file.append($0) }
        var events: [PacketFileReader.Event] = []
        while let event = try file.next() {
            if case .secrets = event, !hasKeys { continue }
            events.append(event)
        }
        let reasons = try Self.verdict(events).reasons.map(\.code)
        #expect(reasons == (hasKeys ? [] : ["not-decrypted"]))
    }

    private static func verdict(
        _ events: [PacketFileReader.Event], isCut: Bool = false
    ) throws -> GateVerdict {
        let sink = RecordingSink()
        let writer = ImportWriter(sink: sink, nextConnection: 1, nextExchange: 1)
        let reading = PacketReading(writer, keyLog: [])
        for event in events { reading.take(event) }
        reading.finish(isCut: isCut)
        writer.recorder.flush()
        let traffic = RecordedTraffic(
            connectionRecords: sink.connections, exchangeRecords: sink.exchanges,
            messageRecords: sink.messages)
        let digests = DigestFunctions(
            sha256: { Digests.sha256($0) }, sha1: { Digests.sha1($0) }, md5: { Digests.md5($0) },
            hmacSHA256: { Digests.hmacSHA256(key: $0, $1) })
        return GateVerdict(
            try CaptureInspection.report(
                on: traffic,
                configuration: FindingsConfiguration(
                    digests: digests, runKey: [UInt8](repeating: 7, count: 32),
                    registrableDomain: { _ in nil })))
    }
}

extension NothingUnreadTests {
    private static let page = [
        "<HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n", "<abcd", "<efgh",
    ]
    private static let asked = [">GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"]

    fileprivate static let rows = [
        Row("HTTP, whole", talk(asked + page)),
        Row("words of no known protocol", talk([">hallo wrld\r\n", "<jo\r\n"]), .notUnderstood),
        Row("a binary protocol", talk([">\u{1}\u{2}\0\0\0", "<\u{1}\u{3}\0"]), .notUnderstood),
        Row(
            "HTTP that breaks its grammar", talk([">GET / HTTP/1.1\r\nHost : a\r\n\r\n", "<x"]),
            .noOriginAnswered, .notUnderstood),
        Row("HTTP, a packet lost", talk(asked + page, without: 5), .packetsMissing),
        Row(
            "mail, a packet lost",
            talk(["<220 mx\r\n", ">EHLO a\r\n", "<250 a\r\n", ">QUIT\r\n"], without: 4),
            .notUnderstood, .packetsMissing),
        Row(
            "TLS from its middle", talk([">\u{17}\u{3}\u{3}\0\u{5}hello"], from: 3), .notDecrypted),
        Row(
            "HTTP/2 from its middle",
            talk([">\0\0\u{4}\u{3}\0\0\0\0\u{1}\0\0\0\u{8}"], from: 3), .notUnderstood),
        Row("datagrams of nothing known", datagram(Array("hallo wrld".utf8)), .notUnderstood),
        Row(
            "WireGuard", datagram([1, 0, 0, 0] + [UInt8](repeating: 9, count: 144)),
            .notDecrypted, .datagrams),
        Row(
            "DTLS",
            datagram([22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 13, 1] + [UInt8](0..<12)),
            .notDecrypted, .datagrams),
        Row("SCTP", packet(132, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]), .notUnderstood),
        Row("ESP", packet(50, [UInt8](0..<40)), .notDecrypted),
        Row(
            "a link of another kind", [HandmadePacket.caught([UInt8](0..<40), link: 147)],
            .notUnderstood),
        Row("a packet that is cut", packet(6, [0, 1, 2, 3]), .packetsMissing),
        Row(
            "a fragment that never came",
            [
                HandmadePacket.caught(
                    HandmadePacket.version4(17, [UInt8](0..<16), identification: 7, place: 0x2000))
            ], .packetsMissing),
        Row(
            "a file that ends within a packet", talk(asked + page), isCut: true,
            .packetsMissing),
    ]

    private static func packet(_ next: UInt8, _ content: [UInt8]) -> [CaughtPacket] {
        [HandmadePacket.caught(HandmadePacket.version4(next, content))]
    }

    private static func datagram(_ content: [UInt8]) -> [CaughtPacket] {
        packet(17, HandmadePacket.udp(50_000, 6000, content))
    }

    /// A connection of TCP; what its client says begins with `>`.
    ///
    /// - Parameters:
    ///   - lost: the packet that was not caught, of its three first and those with content.
    ///   - first: the packet that was caught first.
    private static func talk(
        _ turns: [String], without lost: Int? = nil, from first: Int = 0
    ) -> [CaughtPacket] {
        var tcp = TCPConversation(
            client: PacketEndpoint(address: [192, 0, 2, 1], port: 40_000),
            origin: PacketEndpoint(address: [192, 0, 2, 2], port: 2000), seed: 1)
        var packets = tcp.opened()
        for turn in turns {
            let direction: Direction = turn.hasPrefix(">") ? .request : .response
            packets += tcp.packets(direction, Array(turn.dropFirst().utf8)[...])
        }
        return packets.enumerated().filter { $0.offset != lost && $0.offset >= first }
            .map { HandmadePacket.caught($0.element) }
    }
}
