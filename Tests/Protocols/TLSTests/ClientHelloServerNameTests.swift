import Testing

@testable import TLS

@Suite struct ClientHelloServerNameTests {
    @Test(arguments: [
        ("example.com", "example.com"),
        ("ExAmple.COM", "example.com"),
        ("example.com.", "example.com"),
        ("localhost", "localhost"),
        ("_dmarc.a-b.xn--bcher-kva.example", "_dmarc.a-b.xn--bcher-kva.example"),
        ("1.2.3.example", "1.2.3.example"),
        ("a.0xzz", "a.0xzz"),
        ("192.0.2.1", nil),
        ("192.0.2.1.", nil),
        ("1234", nil),
        ("127.0.0.0x1", nil),
        ("::1", nil),
        ("[2001:db8::1]", nil),
        ("::ffff:192.0.2.1", nil),
    ])
    func namesAreRead(sent: String, expected: String?) throws {
        #expect(try ClientHelloServerName.read([UInt8](sent.utf8)) == expected)
    }

    @Test(
        arguments: [
            ("", .empty), (".", .emptyLabel), ("..", .emptyLabel), (".example.com", .emptyLabel),
            ("example..com", .emptyLabel), ("example.com..", .emptyLabel),
            ("a\0.example", .badByte), ("a b", .badByte), ("a/b", .badByte),
            ("bücher.example", .badByte),
            ("example.com:443", .badByte), ("fe80::1%eth0", .badByte), ("*.example.com", .badByte),
            ("user@example.com", .badByte), ("a\r\nb", .badByte),
            (String(repeating: "a", count: 64) + ".example", .labelTooLong),
            (String(repeating: "a.", count: 126) + "aa", .tooLong),
        ] as [(String, ClientHelloViolation.ServerNameFlaw)])
    func othersAreViolations(sent: String, flaw: ClientHelloViolation.ServerNameFlaw) {
        #expect(throws: ClientHelloViolation.badServerName(flaw)) {
            try ClientHelloServerName.read([UInt8](sent.utf8))
        }
    }

    @Test func theLongestNamesAreRead() throws {
        let label = String(repeating: "a", count: 63)
        let name = "\(label).\(label).\(label).\(label.dropLast(2))"
        #expect(name.utf8.count == 253)
        #expect(try ClientHelloServerName.read([UInt8](name.utf8)) == name)
        #expect(try ClientHelloServerName.read([UInt8]((name + ".").utf8)) == name)
    }
}
