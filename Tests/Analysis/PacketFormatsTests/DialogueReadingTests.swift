import Base
import Formats
import Recording
import TLS
import Testing
import Traffic

@testable import PacketFormats

/// Dialogues that were caught as packets are followed as those that are relayed.
struct DialogueReadingTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// What is said in turn; `>` is the client.
        let turns: [String]
        let name: String
        var notes: [String] = []
        var upgrade: String?
    }

    static let rows: [Row] = [
        Row(
            testDescription: "FTP", turns: ["<220 files", ">USER nora", "<331 ?", ">PASS x y"],
            name: "ftp", notes: ["plaintext-login"]),
        Row(
            testDescription: "mail that offers TLS",
            turns: [
                "<220 mx ESMTP", ">EHLO a", "<250-mx", "<250 STARTTLS", ">AUTH PLAIN AG4AcA==",
                "<235 ok",
            ], name: "smtp", notes: ["upgrade-offered", "plaintext-login"]),
        Row(
            testDescription: "TLS that is refused",
            turns: ["<+OK", ">STLS", "<-ERR no", ">USER nora", "<+OK", ">PASS x", "<+OK"],
            name: "pop3", notes: ["upgrade-asked", "upgrade-refused", "plaintext-login"]),
        Row(
            testDescription: "TLS that is begun",
            turns: [
                "<220 mx ESMTP", ">EHLO a", "<250 STARTTLS", ">STARTTLS", "<220 go", ">\u{16}",
            ],
            name: "smtp", notes: ["upgrade-offered", "upgrade-asked"], upgrade: "STARTTLS"),
        Row(
            testDescription: "words behind the switch",
            turns: ["<220 mx ESMTP", ">EHLO a", "<250 STARTTLS", ">STARTTLS\r\nNOOP", "<220 go"],
            name: "smtp", notes: ["upgrade-offered", "upgrade-asked", "upgrade-injection"],
            upgrade: "STARTTLS"),
        Row(
            testDescription: "IRC, whose words look like a request",
            turns: [">NICK /nora", ">USER h 0 * :Nora", "<:irc NOTICE * :hi", ">PASS hunter2"],
            name: "irc", notes: ["plaintext-login"]),
        Row(
            testDescription: "RTSP",
            turns: [">OPTIONS rtsp://cam/1 RTSP/1.0", ">CSeq: 1", ">", "<RTSP/1.0 200 OK", "<"],
            name: "rtsp"),
        Row(testDescription: "TLS from the first byte", turns: [">\u{16}"], name: "tls"),
        Row(
            testDescription: "Redis as it is typed", turns: [">AUTH hunter2", "<+OK"],
            name: "unknown"),
    ]

    @Test(arguments: rows) func isFollowed(_ row: Row) throws {
        for size in [1, 3, 1000] {
            for hasBeginning in [true, false] {
                try follow(row, size, hasBeginning: hasBeginning)
            }
        }
    }

    private func follow(_ row: Row, _ size: Int, hasBeginning: Bool) throws {
        let sink = RecordingSink()
        let writer = ImportWriter(sink: sink, nextConnection: 1, nextExchange: 1)
        let reading = PacketReading(writer, keyLog: [])
        var tcp = TCPConversation(
            client: try #require(PacketEndpoint(text: "192.0.2.1:40000")),
            origin: try #require(PacketEndpoint(text: "192.0.2.2:2000")), seed: 1)
        func take(_ packets: [[UInt8]]) {
            for packet in packets {
                reading.take(
                    .packet(
                        CaughtPacket(
                            linkType: 101, interface: "", at: RecordedTraffic.start, bytes: packet))
                )
            }
        }
        let opened = tcp.opened()
        if hasBeginning { take(opened) }
        var said: [Direction: [UInt8]] = [:]
        for turn in row.turns {
            let direction: Direction = turn.hasPrefix(">") ? .request : .response
            var bytes = [UInt8](turn.dropFirst().utf8)
            // Of TLS, the start alone.
            bytes += bytes.first == 0x16 ? [3, 1, 0, 5, 1, 0, 0, 1, 0] : [13, 10]
            if bytes.first != 0x16 { said[direction, default: []] += bytes }
            for start in stride(from: 0, to: bytes.count, by: size) {
                take(tcp.packets(direction, bytes[start..<min(start + size, bytes.count)]))
            }
        }
        reading.finish()
        writer.recorder.flush()
        let record = try #require(sink.connections.first)
        let about = "pieces of \(size), \(hasBeginning ? "whole" : "from the middle")"
        #expect(record.protocolName == row.name, "\(about)")
        let notes = record.notes.map(\.code).filter { $0 != "imported-packets" }
        #expect(notes == row.notes, "\(about)")
        #expect(record.upgrade == row.upgrade, "\(about)")
        #expect(sink.exchanges.isEmpty)
        guard row.upgrade == nil else { return }
        for direction in [Direction.request, .response] {
            let told = sink.messages.filter { $0.direction == direction }.flatMap(\.bytes)
            #expect(told == said[direction] ?? [], "\(about)")
        }
    }
}
