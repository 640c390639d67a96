import Base
import Contents
import Testing

struct SOCKSTunnelTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let client: [UInt8]
        let origin: [UInt8]
        /// `nil` for a tunnel that is not set up.
        let host: String?
        let port: UInt16

        init(
            _ name: String, _ client: [UInt8], _ origin: [UInt8], _ host: String?,
            _ port: UInt16 = 25
        ) {
            testDescription = name
            self.client = client
            self.origin = origin
            self.host = host
            self.port = port
        }
    }

    private static let name: [UInt8] = [3, 6] + [UInt8]("a.test".utf8) + [0, 25]
    private static let bound: [UInt8] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]

    static let rows = [
        Row("a name", [5, 1, 0, 5, 1, 0] + name, [5, 0] + bound, "a.test"),
        Row(
            "an address", [5, 1, 0, 5, 1, 0, 1, 192, 0, 2, 7, 0, 25], [5, 0] + bound, "192.0.2.7"),
        Row(
            "an address of IPv6",
            [5, 1, 0, 5, 1, 0, 4, 0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11)
                + [7, 1, 0xBB], [5, 0] + bound, "2001:db8:0:0:0:0:0:7", 443),
        Row(
            "a login", [5, 2, 0, 2, 1, 1, 0x6E, 2, 0x70, 0x77, 5, 1, 0] + name,
            [5, 2, 1, 0] + bound, "a.test"),
        Row(
            "SOCKS 4", [4, 1, 0, 25, 192, 0, 2, 7, 0x6E, 0], [0, 90, 0, 0, 0, 0, 0, 0],
            "192.0.2.7"),
        Row(
            "SOCKS 4A", [4, 1, 0, 25, 0, 0, 0, 1, 0] + [UInt8]("a.test".utf8) + [0],
            [0, 90, 0, 0, 0, 0, 0, 0], "a.test"),
        Row("a login that is refused", [5, 1, 2, 1, 1, 0x6E, 1, 0x70], [5, 2, 1, 1], nil),
        Row("no method", [5, 1, 0], [5, 0xFF], nil),
        Row("another command", [5, 1, 0, 5, 2, 0] + name, [5, 0], nil),
        Row("a place that cannot be reached", [5, 1, 0, 5, 1, 0] + name, [5, 0, 5, 4, 0, 1], nil),
        Row("refused by SOCKS 4", [4, 1, 0, 25, 192, 0, 2, 7, 0], [0, 91, 0, 0, 0, 0, 0, 0], nil),
        Row("something else", [9, 1, 0], [5, 0], nil),
    ]

    @Test(arguments: rows)
    func judges(_ row: Row) {
        let judged = SOCKSTunnel.judge(
            client: row.client + [0x41], origin: row.origin + [0x42, 0x43])
        guard let host = row.host else {
            #expect(judged == .none)
            return
        }
        guard case .tunnel(let tunnel) = judged else {
            Issue.record("\(judged)")
            return
        }
        #expect(tunnel.host == host)
        #expect(tunnel.port == row.port)
        #expect(tunnel.clientCount == row.client.count)
        #expect(tunnel.originCount == row.origin.count)
        for end in row.client.indices {
            #expect(
                SOCKSTunnel.judge(client: [UInt8](row.client[..<end]), origin: row.origin)
                    == .needsMore)
        }
        for end in row.origin.indices {
            #expect(
                SOCKSTunnel.judge(client: row.client, origin: [UInt8](row.origin[..<end]))
                    == .needsMore)
        }
    }
}
