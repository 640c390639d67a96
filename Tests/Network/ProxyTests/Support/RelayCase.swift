import Base
import HTTPCodecs
import Origins
import Sockets
import Testing
import Traffic

@testable import Proxy

/// One way of a request through the proxy, and what its origin does.
struct RelayCase: CustomTestStringConvertible {
    enum Way: String, CaseIterable {
        case absolute, connect, socks, reverse, transparent
    }

    enum Version: String, CaseIterable {
        case http1, http2
    }

    enum Origin: String, CaseIterable {
        case plainHTTP1, secureHTTP1, secureHTTP2

        var kind: ScriptedOrigin.Kind {
            switch self {
            case .plainHTTP1: .plain
            case .secureHTTP1: .tls
            case .secureHTTP2: .http2
            }
        }

        var isSecure: Bool { self != .plainHTTP1 }
        var isHTTP2: Bool { self == .secureHTTP2 }
    }

    let way: Way
    let client: Version
    let origin: Origin

    static let all = Way.allCases.flatMap { way in
        Version.allCases.flatMap { client in
            Origin.allCases.map { RelayCase(way: way, client: client, origin: $0) }
        }
    }

    /// Whether the client does not know of a proxy.
    var mirrorsOrigin: Bool { way == .transparent }

    var testDescription: String { "\(way.rawValue), \(client.rawValue) to \(origin.rawValue)" }

    /// Starts an origin and a proxy, and leads a client to it.
    ///
    /// - Parameters:
    ///   - difference: what the proxy's plan has besides.
    ///   - http1: serves a connection of HTTP/1, which is the given one.
    ///   - http2: the same of HTTP/2.
    func run(
        _ difference: PlanChange = .none,
        http1: @escaping ScriptedOrigin.Script,
        http2: @escaping @Sendable (HTTP2Peer, Int) throws -> Void,
        _ body: (ProxyUnderTest, RelayClient) throws -> Void
    ) throws {
        let isHTTP2 = origin.isHTTP2
        let server = try ScriptedOrigin(origin.kind) { wire, number in
            if isHTTP2 {
                try http2(try HTTP2Peer(.server, wire), number)
            } else {
                try http1(wire, number)
            }
        }
        let led = way == .transparent ? try LedPort() : nil
        let change = PlanChange { [self] plan in
            plan.policy.originVersion = isHTTP2 ? .http2 : .http1
            if way == .reverse {
                plan.wiring.ports[0].mode = .reverse(
                    .init(origin.isSecure ? .https : .http, host: host, port: server.port))
            }
            if let led { led.lead(&plan, to: server.address) }
        }
        try withProxy(.all(change, difference)) { proxy in
            proxy.adopt(server)
            let client = try RelayClient(try open(proxy, server, led), self, server)
            try body(proxy, client)
            client.wire.close()
            let record = try proxy.traffic.connection()
            #expect(record.originPort == led?.address.port ?? server.port)
            // The CONNECT that made a tunnel is none of them.
            #expect(record.exchangeCount == Int64(client.requestCount))
        }
    }

    /// As its certificate has it; a clear one has none.
    var host: String { origin.isSecure ? "localhost" : "127.0.0.1" }

    private func open(
        _ proxy: ProxyUnderTest, _ server: ScriptedOrigin, _ led: LedPort?
    ) throws -> Wire {
        let wire = try led.map { try Wire.connect(to: $0.address) } ?? proxy.connect()
        let authority = "\(host):\(server.port)"
        switch way {
        case .absolute: return wire
        case .reverse, .transparent: break
        case .socks: try wire.tunnelBySOCKS(to: SOCKS.loopback, server.port)
        case .connect:
            try wire.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
            try check(try wire.readHead().hasPrefix("HTTP/1.1 200 "), "no tunnel")
        }
        guard origin.isSecure else { return wire }
        let protocols = [client == .http2 ? "h2" : "http/1.1"]
        try wire.secure(ProxyUnderTest.clientSession(for: "localhost", protocols: protocols))
        return wire
    }
}

/// A port as a transparent proxy sees it whose clients were led there: they came to another address
/// than the one that it listens at, and an origin has that.
struct LedPort {
    /// Where clients connect to.
    let address: SocketAddress
    private let descriptor: Int32

    init() throws {
        let anywhere = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
        let (bound, address) = try Listener.bindShared(anywhere, count: 1)
        descriptor = try #require(bound.first)
        self.address = address
    }

    func lead(_ plan: inout ProxyPlan, to origin: SocketAddress) {
        guard let hosts = HostPattern("127.0.0.1") else { return }
        let told = SocketAddress(literal: "127.0.0.1", port: 1) ?? address
        plan.wiring.ports[0] = PortPlan(descriptor: descriptor, told, .transparent)
        plan.wiring.hosted = HostedZone(hosts, places: [address.port: origin])
    }
}

/// A client that asks for `/` in the version and the form of its case.
final class RelayClient {
    struct Answer: Equatable {
        var status = 0
        var interims: [Int] = []
        var body = ""
        var trailers = ""
        var isWhole = true

        /// The connection or the stream ended without one.
        static let none = Answer(isWhole: false)
    }

    let wire: Wire
    private(set) var requestCount = 0
    /// Of the last answer.
    private(set) var lastHead = ""
    private let peer: HTTP2Peer?
    private let scheme: StaticString
    private let authority: String
    private let isAbsolute: Bool

    init(_ wire: Wire, _ row: RelayCase, _ server: ScriptedOrigin) throws {
        self.wire = wire
        peer = row.client == .http2 ? try HTTP2Peer(.client, wire) : nil
        scheme = row.origin.isSecure ? "https" : "http"
        authority = "\(row.host):\(server.port)"
        isAbsolute = row.way == .absolute
    }

    /// - Parameter fields: lines of HTTP/1.
    func get(fields: String = "") throws -> Answer {
        requestCount += 1
        guard let peer else { return try getByHTTP1(fields) }
        let stream = try peer.request("GET / HTTP/1.1", authority: authority, scheme: scheme)
        let seen = try peer.response(stream)
        let statuses = seen.heads.map(\.status)
        lastHead = seen.heads.last?.text.text ?? ""
        return Answer(
            status: statuses.last ?? 0, interims: Array(statuses.dropLast()), body: seen.body.text,
            trailers: seen.trailers.lowercased(), isWhole: seen.hasEnded)
    }

    private func getByHTTP1(_ fields: String) throws -> Answer {
        let target = isAbsolute ? "\(scheme)://\(authority)/" : "/"
        try wire.send("GET \(target) HTTP/1.1\r\nHost: \(authority)\r\n\(fields)\r\n")
        var answer = Answer()
        while true {
            let message: HTTPMessage
            do {
                message = try wire.readResponse()
            } catch is WireFailure {
                answer.isWhole = false
                return answer
            }
            answer.status = message.status
            lastHead = message.head
            guard message.status >= 200 || message.status == 101 else {
                answer.interims.append(message.status)
                continue
            }
            answer.body = message.body.text
            answer.trailers = message.trailers.lowercased()
            return answer
        }
    }
}
