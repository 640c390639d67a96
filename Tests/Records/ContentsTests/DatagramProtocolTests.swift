import Base
import Contents
import Testing

struct DatagramProtocolTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let port: UInt16
        let name: DatagramProtocol
        let sender: DatagramProtocol.Sender?

        init(
            _ description: String, _ bytes: [UInt8], port: UInt16 = 40_001,
            _ name: DatagramProtocol, _ sender: DatagramProtocol.Sender? = nil
        ) {
            testDescription = description
            self.bytes = bytes
            self.port = port
            self.name = name
            self.sender = sender
        }

        init(
            _ description: String, _ text: String, port: UInt16 = 40_001,
            _ name: DatagramProtocol, _ sender: DatagramProtocol.Sender? = nil
        ) {
            self.init(description, [UInt8](text.utf8), port: port, name, sender)
        }
    }

    /// A question for the address of a.test, and the head of an answer to it.
    static let question: [UInt8] =
        [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0] + [1, 0x61, 4] + [UInt8]("test".utf8)
        + [0, 0, 1, 0, 1]
    static let answer: [UInt8] = [0x12, 0x34, 0x81, 0x80] + question.dropFirst(4)
    static let community: [UInt8] =
        [0x30, 24, 2, 1, 1, 4, 6] + [UInt8]("public".utf8)
        + [0xA0, 11, 2, 1, 7, 2, 1, 0, 2, 1, 0, 0x30, 0]

    static let rows = [
        Row("a question, at any port", question, .dns, .client),
        Row("an answer", answer, port: 53, .dns, .origin),
        Row("an answer that is cut", [UInt8](answer.dropLast(2)), .other),
        Row("a question to a group", question, port: 5353, .mdns, .client),
        Row("LLMNR", question, port: 5355, .llmnr, .client),
        Row("NetBIOS names", question, port: 137, .nbns, .client),
        Row("a search", "M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\n", .ssdp, .client),
        Row("its answer", "HTTP/1.1 200 OK\r\nST: upnp:rootdevice\r\n\r\n", .ssdp, .origin),
        Row("HTTP that answers no search", "HTTP/1.1 200 OK\r\n\r\n", .other),
        Row("SIP", "REGISTER sip:a.test SIP/2.0\r\n\r\n", .sip, .client),
        Row("an answer of SIP", "SIP/2.0 401 Unauthorized\r\n\r\n", .sip, .origin),
        Row("a log line", "<34>Oct 11 22:14:15 mymachine su: failed", .syslog, .client),
        Row(
            "a log line, RFC 5424", "<165>1 2003-10-11T22:14:15.003Z a b - - - x", .syslog, .client),
        Row("a number too high", "<192>x y", .other), Row("markup", "<a>text</a>", .other),
        Row("WS-Discovery", "<?xml version=\"1.0\"?><e/>", port: 3702, .wsd),
        Row("SNMP", community, .snmp),
        Row("an answer of SNMP", community.map { $0 == 0xA0 ? 0xA2 : $0 }, .snmp, .origin),
        Row("SNMP with bytes behind", community + [0], .other),
        Row("DTLS", [22, 0xFE, 0xFD] + [UInt8](repeating: 0, count: 9) + [1, 1], .dtls, .client),
        Row("DTLS that is cut", [22, 0xFE, 0xFD] + [UInt8](repeating: 9, count: 12), .other),
        Row(
            "QUIC", [0xC3, 0, 0, 0, 1, 4, 1, 2, 3, 4, 0] + [UInt8](repeating: 7, count: 40), .quic),
        Row("a version that nobody has", [0xC3, 9, 9, 9, 9, 4, 1, 2, 3, 4, 0, 0], .other),
        Row(
            "STUN", [0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 1, count: 12), .stun,
            .client),
        Row(
            "DHCP",
            [1, 1, 6] + [UInt8](repeating: 0, count: 233) + [0x63, 0x82, 0x53, 0x63, 0xFF], .dhcp,
            .client),
        Row("NTP", [0x23] + [UInt8](repeating: 0, count: 47), port: 123, .ntp, .client),
        Row("NTP at another port", [0x23] + [UInt8](repeating: 0, count: 47), .other),
        Row("WireGuard", [1, 0, 0, 0] + [UInt8](repeating: 5, count: 144), .wireguard, .client),
        Row("nothing that is known", [0x80, 1, 2, 3], .other), Row("nothing", [UInt8](), .other),
    ]

    @Test("What is spoken is told by what is said", arguments: rows)
    func judges(_ row: Row) {
        let judged = DatagramProtocol.judge(row.bytes, ports: (50_000, row.port))
        #expect(judged.name == row.name)
        #expect(judged.sender == row.sender)
        #expect(DatagramProtocol.judge(row.bytes, ports: (row.port, 50_000)).name == row.name)
        for end in row.bytes.indices {
            _ = DatagramProtocol.judge([UInt8](row.bytes[..<end]), ports: (row.port, 1))
        }
    }

    @Test("The community of SNMP is found at its place")
    func findsCommunity() throws {
        let message = try #require(SNMPMessage(Self.community))
        #expect(message.community == 7..<13)
        #expect(message.end == Self.community.count)
        let later = try #require(SNMPMessage([9, 9] + Self.community, at: 2))
        #expect(later.community == 9..<15)
        for end in Self.community.indices {
            #expect(SNMPMessage([UInt8](Self.community[..<end])) == nil)
            let start = SNMPMessage.community(inStart: [UInt8](Self.community[..<end]))
            #expect(start == (end < 7 ? nil : 7..<min(end, 13)))
        }
    }
}
