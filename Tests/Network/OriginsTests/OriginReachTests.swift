import Base
import Sockets
import Testing

@testable import Origins
@testable import Transport

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

    /// A connection's own address may be an upstream proxy's: where it leads was judged when it was
    /// opened, for whoever asked then.
    @Test(arguments: [
        (opened: OriginReach.everywhere, asks: OriginReach.everywhere, isTaken: true),
        (opened: .everywhere, asks: .beyondLoopback, isTaken: false),
        (opened: .beyondLoopback, asks: .everywhere, isTaken: true),
        (opened: .beyondLoopback, asks: .beyondLoopback, isTaken: true),
    ])
    func poolKeepsThemApart(
        _ row: (opened: OriginReach, asks: OriginReach, isTaken: Bool)
    ) throws {
        let loop = try EventLoop(index: 0)
        for upstream in ["127.0.0.1", "192.0.2.7"] {
            let (near, far) = try Channel.pair(on: loop)
            defer { far.close() }
            let target = OriginTarget(isSecure: false, host: "a.test", port: 80)
            let leg = OriginLeg(
                target: target, serverName: nil, stream: PlainStream(near), offer: .plain,
                address: try #require(SocketAddress(literal: upstream, port: 3128)), tls: nil)
            leg.reach = row.opened
            leg.exchangeCount = 1
            var pool = OriginPool(countLimit: 8, idleLimit: 15_000)
            pool.give(leg, now: loop.now)
            let taken = pool.take(target, serverName: nil, offer: .plain, reach: row.asks)
            #expect((taken === leg) == row.isTaken)
            pool.closeAll()
            leg.close()
        }
    }
}
