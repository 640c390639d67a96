import Base
import Sockets
import Testing

@testable import Proxy

/// What a client from elsewhere can make the proxy connect to.
struct OriginReachTests {
    static let rows: [(address: String, isReached: Bool)] = [
        ("127.0.0.1", false), ("127.8.9.1", false), ("::1", false), ("::ffff:127.0.0.1", false),
        ("0.0.0.0", false), ("::", false), ("192.0.2.7", true), ("2001:db8::1", true),
    ]

    @Test(arguments: rows)
    func endsAtLoopback(_ row: (address: String, isReached: Bool)) throws {
        let address = try #require(SocketAddress(literal: row.address, port: 443))
        #expect(OriginReach.beyondLoopback.includes(address) == row.isReached)
        #expect(OriginReach.everywhere.includes(address))
    }
}
