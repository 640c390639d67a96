import Testing

@testable import Sockets

struct SocketAddressTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let literal: String
        let text: String
        var isLoopback = false
        var isWildcard = false
        var testDescription: String { literal }
    }

    static let rows = [
        Row(literal: "127.0.0.1", text: "127.0.0.1:80", isLoopback: true),
        Row(literal: "127.255.1.2", text: "127.255.1.2:80", isLoopback: true),
        Row(literal: "128.0.0.1", text: "128.0.0.1:80"),
        Row(literal: "0.0.0.0", text: "0.0.0.0:80", isWildcard: true),
        Row(literal: "255.255.255.255", text: "255.255.255.255:80"),
        Row(literal: "::1", text: "[::1]:80", isLoopback: true),
        Row(literal: "::", text: "[::]:80", isWildcard: true),
        Row(literal: "::2", text: "[::2]:80"),
        Row(literal: "2001:DB8:0:0:0:0:0:1", text: "[2001:db8::1]:80"),
        Row(literal: "::ffff:127.0.0.1", text: "[::ffff:127.0.0.1]:80", isLoopback: true),
        Row(literal: "::ffff:0.0.0.0", text: "[::ffff:0.0.0.0]:80", isWildcard: true),
        Row(literal: "::ffff:10.0.0.1", text: "[::ffff:10.0.0.1]:80"),
        Row(
            literal: "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
            text: "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:80"),
    ]

    @Test(arguments: rows)
    func readsLiterals(_ row: Row) throws {
        let address = try #require(SocketAddress(literal: row.literal, port: 80))
        #expect(address.description == row.text)
        #expect(address.isLoopback == row.isLoopback)
        #expect(address.isWildcard == row.isWildcard)
        #expect(SocketAddress(literal: address.host, port: 80) == address)
        #expect(SocketAddress(address.kernelForm.storage) == address)
        #expect(address.withPort(443).port == 443)
        #expect(address.withPort(443).host == address.host)
    }

    @Test(arguments: [
        "", "localhost", "1", "127.1", "127.0.0.01", "127.0.0.1.", " 127.0.0.1", "127.0.0.256",
        "0x7f.0.0.1", "[::1]", "::1%lo", ":", ":::", "1::2::3", "127.0.0.1:80", "127.0.0.1\u{0}",
        "127.0.0.1\u{0}.example.com", "::1\u{0}x",
    ])
    func refuses(_ literal: String) {
        #expect(SocketAddress(literal: literal, port: 80) == nil)
    }

    @Test func keepsPortAndScopeInTheKernelsForm() {
        let bytes: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]
        let address = SocketAddress(address: bytes, port: 65_535, scope: 3)
        #expect(SocketAddress(address.kernelForm.storage) == address)
        #expect(address.isIPv6)
        #expect(SocketAddress(loopback.withPort(1).kernelForm.storage)?.port == 1)
    }

    @Test func knowsNoOtherFamily() {
        var storage = loopback.kernelForm.storage
        unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0[0] = 1 }
        #expect(SocketAddress(storage) == nil)
    }
}
