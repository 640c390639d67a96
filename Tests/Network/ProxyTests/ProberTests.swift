import Base
import Glibc
import Sockets
import Synchronization
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Connections that an audit takes over.
    @Suite struct Probers {
        /// How a client asks for a host that does not exist.
        enum Way: String, CaseIterable {
            case plainRequest
            case connect
            case socksByName
            case socks4
            case connectInsideTLS
            case connectOnStream

            /// Asks, says something in cleartext where a tunnel is what it gets, and reads what comes.
            func ask(_ proxy: ProxyUnderTest) throws -> String {
                let client = try proxy.connect()
                switch self {
                case .plainRequest:
                    try client.send(
                        "GET http://\(Self.host)/ HTTP/1.1\r\nHost: \(Self.host)\r\n\r\n")
                    return try client.readToEnd().text
                case .connect: try Self.connect(client)
                case .socksByName: try client.tunnelBySOCKS(to: .name(Self.host), 80)
                case .socks4:
                    try client.send(SOCKS.request4a(Self.host, 80))
                    #expect(try client.readReply4() == 90)
                case .connectInsideTLS:
                    try client.secure(ProxyUnderTest.clientSession(for: "localhost"))
                    try Self.connect(client)
                case .connectOnStream:
                    try client.secure(
                        ProxyUnderTest.clientSession(for: "localhost", protocols: ["h2"]))
                    let streams = try RawHTTP2(client)
                    try streams.connect(stream: 1, "\(Self.host):80")
                    #expect(try streams.next(of: 1).payload.first == 0x88)
                    try streams.data(stream: 1, [UInt8](Self.request.utf8))
                    return try streams.readData(of: 1, 5).text
                }
                try client.send(Self.request)
                return try client.readToEnd().text
            }

            private static func connect(_ client: Wire) throws {
                try client.send("CONNECT \(host):80 HTTP/1.1\r\nHost: x\r\n\r\n")
                let head = try client.readHead()
                guard head.hasPrefix("HTTP/1.1 200 ") else { throw WireFailure(head) }
            }

            static let host = "nowhere.invalid"
            private static let request = "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n"
        }

        /// A prober is asked before any origin is, and knows the program by then: it is another
        /// client without.
        @Test(arguments: Way.allCases)
        func isAskedOnceTheProgramIsKnown(_ way: Way) throws {
            let prober = TakingProber()
            let change = PlanChange { plan in
                plan.interceptors = [prober]
                plan.wiring.findsProcesses = true
            }
            try withProxy(change) { proxy in
                #expect(try way.ask(proxy) == "taken")
                let visit = try #require(prober.visits.first)
                #expect(visit.host == Way.host && visit.port == 80)
                #expect(visit.process?.id == getpid())
                #expect(prober.visits.count == 1)
            }
        }

        /// What a prober leaves goes on to its origin.
        @Test(arguments: [true, false])
        func passesOnWhatIsNotTaken(_ isClaimed: Bool) throws {
            let prober = TakingProber(claims: isClaimed, takes: false)
            try withProxy(PlanChange { $0.interceptors = [prober] }) { proxy in
                let origin = try proxy.greeter()
                let client = try proxy.connect()
                try client.tunnelBySOCKS(to: SOCKS.loopback, origin.port)
                #expect(try client.get("/").body.text == "hello")
                try client.finish()
                #expect(try proxy.traffic.connection().originAddress == origin.authority)
                #expect(prober.visits.count == (isClaimed ? 1 : 0))
            }
        }
    }
}

/// Takes every connection that it claims, says a word and ends it.
private final class TakingProber: Prober {
    private let claims: Bool
    private let takes: Bool
    private let asked = Mutex<[ProbeVisit]>([])

    init(claims: Bool = true, takes: Bool = true) {
        self.claims = claims
        self.takes = takes
    }

    var visits: [ProbeVisit] { asked.withLock { $0 } }

    func claim(_ visit: ProbeVisit) -> ProbeClaim { claims ? .afterOpening : .none }

    func probe(for visit: ProbeVisit) -> (any ProbeMachine)? {
        asked.withLock { $0.append(visit) }
        return takes ? WordMachine() : nil
    }
}

/// `@unchecked Sendable`: one task drives it.
private final class WordMachine: ProbeMachine, @unchecked Sendable {
    let identifier = "word"
    let patience: UInt64 = 1_000
    private var outgoing = [UInt8]("taken".utf8)
    private(set) var isOver = false

    func receive(_ bytes: Span<UInt8>) {}
    func noteSilence() {}
    func noteEnd(_ end: ProbeEnd) {}

    func takeOutgoing() -> [UInt8] {
        isOver = true
        defer { outgoing = [] }
        return outgoing
    }

    var tls: TLSRecord? { nil }
    func takePlaintext() -> [(direction: Direction, bytes: [UInt8])] { [] }
    var outcome: (outcome: ConnectionRecord.Outcome, cause: String) { (.completed, "") }
}
