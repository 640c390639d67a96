import Base
import Sockets
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Clients that come in by SOCKS.
    @Suite struct SOCKSClients {
        enum Shape: String, CaseIterable {
            case five
            case fiveByName
            case fiveByAddress6
            case four
            case fourA

            func open(_ client: Wire, _ port: UInt16) throws {
                switch self {
                case .five: try client.tunnelBySOCKS(to: SOCKS.loopback, port)
                case .fiveByName: try client.tunnelBySOCKS(to: .name("LocalHost"), port)
                case .fiveByAddress6: try client.tunnelBySOCKS(to: SOCKS.loopback6, port)
                case .four:
                    try client.send(SOCKS.request4([127, 0, 0, 1], port))
                    #expect(try client.readReply4() == 90)
                case .fourA:
                    try client.send(SOCKS.request4a("localhost", port))
                    #expect(try client.readReply4() == 90)
                }
            }

            var host: String {
                switch self {
                case .five, .four: "127.0.0.1"
                case .fiveByAddress6: "::1"
                case .fiveByName, .fourA: "localhost"
                }
            }

            var listens: String { self == .fiveByAddress6 ? "::1" : "127.0.0.1" }
        }

        @Test(arguments: Shape.allCases, [true, false])
        func requestReachesItsOrigin(_ shape: Shape, isSecure: Bool) throws {
            try withProxy { proxy in
                let origin = try proxy.greeter(isSecure ? .tls : .plain, on: shape.listens)
                let client = try proxy.connect()
                try shape.open(client, origin.port)
                if isSecure { try client.secure(ProxyUnderTest.clientSession(for: "localhost")) }
                #expect(client.session?.verifyError == nil)
                #expect(try client.get("/").body.text == "hello")
                try client.finish()
                let connection = try proxy.traffic.connection()
                #expect(connection.mode == .socks)
                #expect(connection.outcome == .completed)
                #expect(connection.protocolName == "http/1.1")
                #expect(connection.originHost == shape.host)
                #expect(connection.originPort == origin.port)
                #expect(connection.originAddress == origin.authority)
                #expect(connection.exchangeCount == 1)
                #expect(connection.clientBytes.received > 10)
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.scheme == (isSecure ? .https : .http))
            }
        }

        @Test func firstBytesMayComeAtOnceAndPieceByPiece() throws {
            try withProxy { proxy in
                let origin = try proxy.greeter()
                let request = [UInt8]("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
                let all = [5, 1, 0] + SOCKS.request5(SOCKS.loopback, origin.port) + request
                let atOnce = try proxy.connect()
                try atOnce.send(all)
                #expect(try atOnce.read(2) == [5, 0])
                #expect(try atOnce.readReply5() == 0)
                #expect(try atOnce.readResponse().body.text == "hello")
                let slow = try proxy.connect()
                for byte in all { try slow.send([byte]) }
                #expect(try slow.read(2) == [5, 0])
                #expect(try slow.readReply5() == 0)
                #expect(try slow.readResponse().body.text == "hello")
            }
        }

        @Test func anyProtocolPasses() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    try wire.send("ready\r\n")
                    let line = try wire.read(5)
                    try check(line == [0, 1, 2, 3, 4], "\(line)")
                    try wire.send([9])
                }
                let client = try proxy.connect()
                try client.tunnelBySOCKS(to: SOCKS.loopback, origin.port)
                #expect(try client.read(7).text == "ready\r\n")
                try client.send([0, 1, 2, 3, 4])
                #expect(try client.readToEnd() == [9])
                try client.finish()
                let connection = try proxy.traffic.connection()
                #expect(connection.mode == .socks)
                #expect(connection.messageCount == 3)
            }
        }

        // MARK: Where it must not lead

        @Test(arguments: [
            SOCKS.loopback, .four([127, 0, 0, 2]), .four([0, 0, 0, 0]), SOCKS.loopback6,
            .six([UInt8](repeating: 0, count: 16)), .name("localhost"), .name("127.0.0.1"),
            .six([UInt8](repeating: 0, count: 10) + [255, 255, 127, 0, 0, 1]),
        ])
        func proxyNeverReachesItself(_ host: SOCKS.Host) throws {
            try withProxy { proxy in
                let client = try proxy.connect()
                try client.send([5, 1, 0])
                #expect(try client.read(2) == [5, 0])
                try client.send(SOCKS.request5(host, proxy.address.port))
                #expect(try client.readReply5() == 2)
                #expect(try client.readToEnd() == [])
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .originUnreachable)
                #expect(connection.cause.contains("is this proxy itself"))
                #expect(proxy.traffic.content.connections.count == 1)
            }
        }

        @Test func proxyNeverReachesItselfBySOCKS4() throws {
            try withProxy { proxy in
                for request in [
                    SOCKS.request4([127, 0, 0, 1], proxy.address.port),
                    SOCKS.request4a("localhost", proxy.address.port),
                ] {
                    let client = try proxy.connect()
                    try client.send(request)
                    #expect(try client.readReply4() == 91)
                    #expect(try client.readToEnd() == [])
                }
            }
        }

        @Test func unreachableOriginIsTold() throws {
            try withProxy { proxy in
                let closed = try ClosedPort()
                let client = try proxy.connect()
                try client.send([5, 1, 0])
                _ = try client.read(2)
                try client.send(SOCKS.request5(SOCKS.loopback, closed.port))
                #expect(try client.readReply5() == 5)
                #expect(try client.readToEnd() == [])
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .originUnreachable)
                #expect(connection.originHost == "127.0.0.1")
                let named = try proxy.connect()
                try named.send(SOCKS.request4a("no-such-name.invalid", 80))
                #expect(try named.readReply4() == 91)
            }
        }

        // MARK: What is no request

        static let refused: [(name: String, bytes: [UInt8], reply: [UInt8])] = [
            ("BIND", [5, 1, 0, 5, 2, 0, 1, 127, 0, 0, 1, 0, 80], [5, 0, 5, 7]),
            ("UDP ASSOCIATE", [5, 1, 0, 5, 3, 0, 1, 127, 0, 0, 1, 0, 80], [5, 0, 5, 7]),
            ("an unknown kind of address", [5, 1, 0, 5, 1, 0, 9, 1, 2, 3, 4], [5, 0, 5, 8]),
            ("an unknown method", [5, 1, 0x80], [5, 0xFF]),
            ("BIND of SOCKS4", [4, 2, 0, 80, 127, 0, 0, 1, 0], [0, 91]),
            ("no version behind the methods", [5, 1, 0, 9, 1, 0, 1], [5, 0]),
        ]

        @Test(arguments: refused)
        func isToldWhy(_ row: (name: String, bytes: [UInt8], reply: [UInt8])) throws {
            try withProxy { proxy in
                let client = try proxy.connect()
                try client.send(row.bytes)
                let answer = try client.readToEnd()
                #expect(answer.starts(with: row.reply), "\(answer)")
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .refused)
                #expect(connection.protocolName == "socks")
                #expect(!connection.cause.isEmpty)
            }
        }

        @Test func negotiationMayEndAnywhere() throws {
            let whole: [UInt8] = [5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, 0]
            try withProxy { proxy in
                for count in 1...whole.count {
                    let client = try proxy.connect()
                    try client.send(Array(whole.prefix(count)))
                    try client.finish()
                    _ = try client.readToEnd()
                }
                _ = try proxy.traffic.connection(whole.count - 1)
                for connection in proxy.traffic.content.finalConnections {
                    #expect(connection.outcome == .broken)
                    #expect(connection.closedBy == .client)
                }
            }
        }

        @Test func silentNegotiationEnds() throws {
            try withProxy(.limit(\.headTimeout, 150)) { proxy in
                let client = try proxy.connect()
                try client.send([5, 1])
                _ = try client.readToEnd()
                #expect(try proxy.traffic.connection().outcome == .timedOut)
            }
        }

        @Test func otherPortsDoNotServeIt() throws {
            let target = ProxyPlan.ReverseTarget(.https, host: "localhost", port: 443)
            try withProxy(.mode(.reverse(target))) { proxy in
                let client = try proxy.connect()
                try client.send([5, 1, 0])
                _ = try client.readToEnd()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .refused)
                #expect(connection.cause == "client spoke SOCKS to a port that does not serve it")
            }
        }
    }
}
