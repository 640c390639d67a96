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

    /// Hosts that a client from elsewhere names, and the code with which they are refused where the
    /// upstream proxy is on this machine; `nil` for those that it is asked for.
    static let named: [(host: String, code: String?)] = [
        ("127.0.0.1", "loopback-origin"), ("::1", "loopback-origin"),
        ("0.0.0.0", "loopback-origin"), ("localhost", "loopback-origin"),
        ("db.localhost", "loopback-origin"), ("loop.test", "loopback-origin"),
        ("any.test", "loopback-origin"), ("both.test", "loopback-origin"),
        // What cannot be judged is refused.
        ("unknown.test", "name-not-found"), ("own.test", "proxy-loop"),
        ("far.test", nil), ("192.0.2.7", nil),
    ]

    /// It would lead where the client must not go. What clients on this machine name is left to it.
    @Test(arguments: UpstreamProxy.Scheme.allCases, named)
    func upstreamHereLeadsNoFurther(
        _ scheme: UpstreamProxy.Scheme, _ row: (host: String, code: String?)
    ) async throws {
        let far = try await Self.dial(row.host, by: scheme, .beyondLoopback)
        #expect(far.code == row.code)
        #expect(far.isAsked == (row.code == nil))
        let near = try await Self.dial(row.host, by: scheme, .everywhere)
        #expect(near.code == nil && near.isAsked)
    }

    /// Dials by an upstream proxy on this machine that lets everybody through.
    ///
    /// - Returns: the code of the refusal, `nil` for none, and whether the proxy was asked.
    private static func dial(
        _ host: String, by scheme: UpstreamProxy.Scheme, _ reach: OriginReach
    ) async throws -> (code: String?, isAsked: Bool) {
        let loop = try EventLoop(index: 0)
        startThread(named: "test loop") { loop.run() }
        defer { loop.stop() }
        return try await Task(executorPreference: loop) {
            defer { loop.closeAllChannels() }
            let loopback = SocketAddress(address: [127, 0, 0, 1], port: 0)
            let bound = try Listener.bind(loopback, sharesPort: false)
            let listener = try Listener(
                descriptor: bound.descriptor, address: bound.address, loop: loop)
            defer { listener.close() }
            var configuration = OriginConfiguration()
            configuration.upstreams = [
                UpstreamProxy(scheme, host: "127.0.0.1", port: bound.address.port)
            ]
            let connector = OriginConnector(
                configuration, on: loop, resolver: Resolver { Self.lookUp($0) },
                rule: OwnAddress.rule)
            async let code = connector.code(of: host, reach)
            guard let (channel, _) = await listener.accept() else { throw StreamFailure.closed }
            let isAsked = try await Self.letThrough(PlainStream(channel), scheme)
            return (code: await code, isAsked: isAsked)
        }.value
    }

    /// Answers as a proxy does, whatever it is asked.
    ///
    /// - Returns: whether it was.
    private static func letThrough(
        _ stream: PlainStream, _ scheme: UpstreamProxy.Scheme
    ) async throws(StreamFailure) -> Bool {
        let answers: [[UInt8]] =
            switch scheme {
            case .http: [[UInt8]("HTTP/1.1 200 OK\r\n\r\n".utf8)]
            // The method, and the reply (RFC 1928 §3, §6).
            case .socks5: [[5, 0], [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]]
            }
        for answer in answers {
            let buffer = ByteBuffer(capacity: 4096)
            guard try await stream.read(into: buffer) > 0 else { return false }
            buffer.removeAll()
            buffer.append(answer)
            try await stream.write(buffer)
        }
        return true
    }

    private static let names: [String: [String]] = [
        "loop.test": ["127.0.0.1"], "any.test": ["0.0.0.0"],
        "both.test": ["192.0.2.7", "::1"], "own.test": ["192.0.2.1"], "far.test": ["192.0.2.7"],
    ]

    private static func lookUp(_ host: String) -> Result<[SocketAddress], Failure> {
        guard let addresses = names[host] else {
            return .failure(Failure("name-not-found", party: .origin, "nobody knows \(host)"))
        }
        return .success(addresses.compactMap { SocketAddress(literal: $0, port: 0) })
    }
}

/// Of a proxy that listens at 192.0.2.1.
private final class OwnAddress: AddressRule, Sendable {
    static let rule = OwnAddress()

    func isOwn(_ address: SocketAddress) -> Bool { address.host == "192.0.2.1" }
    func leadsBack(_ channel: Channel, to address: SocketAddress, _ port: UInt16) -> Bool { false }
    func blockReason(_ address: SocketAddress) -> String? { nil }
}

extension OriginConnector {
    /// The code with which a host is refused; `nil` if it is reached.
    fileprivate func code(of host: String, _ reach: OriginReach) async -> String? {
        do throws(OriginFailure) {
            try await dial(host, 80, reach: reach).close()
            return nil
        } catch {
            return error.failure.code
        }
    }
}
