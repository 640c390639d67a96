import Base
import Dispatch
import HTTPCodecs
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// What becomes of connections when the proxy is asked to stop.
    @Suite struct Shutdowns {
        /// Runs `body`, stops the proxy, and says how and how fast that ended.
        private func stop(_ proxy: ProxyUnderTest) -> (inOrder: Bool?, milliseconds: UInt64) {
            let start = MonotonicTime.now().nanoseconds
            let inOrder = proxy.stop()
            return (inOrder, (MonotonicTime.now().nanoseconds - start) / 1_000_000)
        }

        @Test func connectionsThatWaitAreClosedAtOnce() throws {
            let proxy = try ProxyUnderTest(grace: 5_000)
            let plain = try proxy.greeter()
            let secure = try proxy.greeter(.tls)
            let fresh = try proxy.connect()
            let used = try proxy.connect()
            #expect(try used.get("http://\(plain.authority)/").status == 200)
            let tunnel = try proxy.tunnel(to: plain.authority)
            let secured = try proxy.secureTunnel(to: secure)
            let securedAndUsed = try proxy.secureTunnel(to: secure)
            #expect(try securedAndUsed.get("/").status == 200)
            let half = try proxy.tunnel(to: plain.authority)
            try half.send([0x16, 3, 1])
            let (inOrder, milliseconds) = stop(proxy)
            #expect(inOrder == true)
            #expect(milliseconds < 3_000)
            for wire in [fresh, used, tunnel, secured, securedAndUsed, half] {
                #expect(try wire.readToEnd() == [])
            }
            #expect(used.end == .inOrder)
            #expect(securedAndUsed.end == .inOrder)
            #expect(proxy.contradictions == [])
            let ended = proxy.traffic.content.finalConnections
            #expect(ended.count == 6)
            #expect(ended.filter { $0.outcome == .completed }.count == 2)
            #expect(ended.filter { $0.outcome == .cut }.count == 4)
            #expect(ended.allSatisfy { $0.closedBy == .tool })
        }

        /// What passes through a tunnel has no end that the proxy could wait for: it goes on as long as the
        /// grace lasts, and being cut then is told.
        @Test(arguments: [true, false])
        func tunnelInUseIsNotCutAtOnce(endsItself: Bool) throws {
            let proxy = try ProxyUnderTest(grace: endsItself ? 10_000 : 1_500)
            let origin = try proxy.origin { wire, _ in
                while let byte = try wire.read().first { try wire.send([byte]) }
            }
            let client = try proxy.tunnel(to: origin.authority)
            // No protocol that is looked into.
            try client.send([0x99])
            #expect(try client.read(1) == [0x99])
            proxy.requestShutdown()
            var count = 0
            while !endsItself || count < 2_000 {
                do {
                    try client.send([0x98])
                    _ = try client.read(1)
                } catch {
                    break
                }
                count += 1
            }
            #expect(!endsItself || count == 2_000)
            try client.finish()
            #expect(stop(proxy).inOrder == endsItself)
            let connection = try proxy.traffic.connection()
            #expect((connection.outcome == .cut) == !endsItself, "\(connection.outcome)")
        }

        /// A browser keeps its WebSockets open, and who ends the tool does not wait for them: what rests
        /// is ended in order.
        @Test(arguments: [true, false])
        func webSocketAtRestIsEnded(inStream: Bool) throws {
            let proxy = try ProxyUnderTest(grace: 60_000)
            let ended = DispatchSemaphore(value: 0)
            if inStream {
                let origin = try proxy.http2Origin(allowsExtendedConnect: true) { peer, _ in
                    while let (stream, head) = try peer.nextRequest() {
                        guard head.isExtendedConnect else {
                            try peer.respond(stream)
                            continue
                        }
                        try peer.respond(stream, "HTTP/1.1 200 OK", "first", ends: false)
                        try peer.wait("its end") { $0.streams[stream]?.code != nil }
                        ended.signal()
                    }
                }
                let client = try proxy.http2Client(to: origin)
                _ = try client.get("/")
                try client.wait("the setting") { $0.session.peerSettings.allowsExtendedConnect }
                let id = try client.request(
                    "CONNECT /chat HTTP/1.1", protocolName: "websocket", endsStream: false)
                try client.wait("its word") { $0.streams[id]?.body.text == "first" }
                #expect(stop(proxy).inOrder == true)
            } else {
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.send(
                        "HTTP/1.1 101 Yes\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello")
                    try wire.expectEnd()
                    ended.signal()
                }
                let client = try proxy.connect()
                try begin(.webSocket, client, origin.authority)
                #expect(stop(proxy).inOrder == true)
                #expect(try client.readToEnd() == [])
                #expect(client.end == .inOrder)
            }
            ended.wait()
            let connection = try proxy.traffic.connection()
            #expect(connection.outcome == .completed)
            #expect(connection.closedBy == .tool)
            #expect(
                proxy.traffic.content.finalExchanges.map(\.error)
                    == (inStream ? [nil, nil] : [nil]))
            #expect(proxy.contradictions == [])
        }

        /// A client that refused at the last moment has not been cut off.
        @Test func refusalThatWasNotYetReadIsJudged() throws {
            let proxy = try ProxyUnderTest(grace: 5_000)
            let client = try proxy.secureTunnel(to: proxy.greeter(.tls))
            try proxy.requestShutdown(overtaking: client.finish)
            let (inOrder, milliseconds) = stop(proxy)
            #expect(inOrder == true)
            #expect(milliseconds < 3_000)
            let connection = try proxy.traffic.connection()
            #expect(connection.outcome == .clientRefused)
            #expect(connection.closedBy == .client)
        }

        @Test func requestThatWasNotYetReadIsAnswered() throws {
            let proxy = try ProxyUnderTest(grace: 5_000)
            let origin = try proxy.greeter()
            let client = try proxy.connect()
            try proxy.requestShutdown(overtaking: {
                try client.send(
                    "GET http://\(origin.authority)/ HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
            })
            let response = try client.readResponse()
            #expect(response.status == 200)
            #expect(response.field("connection") == "close")
            #expect(stop(proxy).inOrder == true)
            #expect(try proxy.traffic.connection().outcome == .completed)
        }

        /// It was made, as its client knows, before the proxy was told to end.
        @Test(arguments: [false, true])
        func connectionThatWasNotYetAcceptedIsHeard(hasLeft: Bool) throws {
            let proxy = try ProxyUnderTest(grace: 5_000)
            let origin = try proxy.greeter()
            var late: Wire?
            try proxy.requestShutdown(overtaking: {
                late = try proxy.connect()
                guard !hasLeft else { return try late?.finish() ?? () }
                try late?.send(
                    "GET http://\(origin.authority)/ HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
            })
            if !hasLeft { #expect(try check(late).readResponse().status == 200) }
            #expect(stop(proxy).inOrder == true)
            let connection = try proxy.traffic.connection()
            #expect(connection.exchangeCount == (hasLeft ? 0 : 1))
            #expect(connection.closedBy == (hasLeft ? .client : .tool))
            #expect(proxy.contradictions == [])
        }

        /// Neither is a stream waited for that its client has left, nor is a request repeated.
        @Test(arguments: [false, true])
        func streamsThatAnOriginLeavesOpenAreEnded(hasLeft: Bool) throws {
            let proxy = try ProxyUnderTest(
                grace: 1_000, PlanChange { $0.policy.originVersion = .http2 })
            let asked = DispatchSemaphore(value: 0)
            let origin = try proxy.http2Origin { peer, number in
                if number == 0 {
                    let (stream, _) = try peer.needRequest()
                    try peer.respond(stream, "HTTP/1.1 200 OK", "first")
                }
                _ = try peer.needRequest()
                asked.signal()
                try peer.waitForEnd()
            }
            let client = try proxy.secureTunnel(to: origin)
            #expect(try client.get("/").status == 200)
            try client.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
            asked.wait()
            if hasLeft { client.hangUp() }
            let (inOrder, milliseconds) = stop(proxy)
            #expect(inOrder == hasLeft)
            #expect(milliseconds < 5_000)
            #expect(proxy.contradictions == [])
        }

        @Test(arguments: Way.allCases, [false, true])
        func exchangeUnderWayIsFinished(_ way: Way, hasBegun: Bool) throws {
            let proxy = try ProxyUnderTest(grace: 8_000)
            let (asked, asksForMore) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let origin = try proxy.origin(way.kind) { wire, _ in
                _ = try wire.readHead()
                let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
                if hasBegun { try wire.send(head + "he") }
                asked.signal()
                asksForMore.wait()
                try wire.send(hasBegun ? "llo" : head + "hello")
                _ = try wire.readToEnd()
            }
            let client = try way.open(proxy, origin)
            try client.send("GET \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            asked.wait()
            if hasBegun { _ = try client.read(through: "\r\n\r\nhe") }
            proxy.requestShutdown()
            // No connection comes in any more, so the stop has begun.
            while try isAccepting(proxy) {}
            asksForMore.signal()
            if hasBegun {
                #expect(try client.readToEnd().text == "llo")
            } else {
                let response = try client.readResponse()
                #expect(response.body.text == "hello")
                #expect(response.field("connection") == "close")
                try client.expectEnd()
            }
            #expect(stop(proxy).inOrder == true)
            #expect(proxy.contradictions == [])
            let exchange = try proxy.traffic.exchange()
            #expect(exchange.error == nil)
            let connection = try proxy.traffic.connection()
            #expect(connection.outcome == .completed)
        }

        private func isAccepting(_ proxy: ProxyUnderTest) throws -> Bool {
            do {
                let wire = try proxy.connect()
                wire.close()
                return true
            } catch is WireFailure {
                return false
            }
        }

        /// What a connection is busy with when the deadline passes.
        enum Business: String, CaseIterable, Sendable {
            case silentOrigin
            case response
            case upload
            case webSocket
            case originHandshake
            case clientHandshake
            case passedThrough
            case slowHead
        }

        @Test(arguments: Business.allCases)
        func deadlineCuts(_ business: Business) throws {
            let isWaiting =
                business == .clientHandshake || business == .passedThrough || business == .slowHead
            let proxy = try ProxyUnderTest(grace: isWaiting ? 5_000 : 300)
            let asked = DispatchSemaphore(value: 0)
            let origin = try proxy.origin { wire, _ in
                if business == .originHandshake {
                    _ = try wire.read()
                } else if business != .slowHead && business != .clientHandshake {
                    _ = business == .passedThrough ? "" : try wire.readHead()
                }
                switch business {
                case .response: try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
                case .webSocket:
                    try wire.send(
                        "HTTP/1.1 101 Yes\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello")
                default: break
                }
                asked.signal()
                _ = try wire.readToEnd()
            }
            let client = try proxy.connect()
            try begin(business, client, origin.authority)
            if business == .slowHead {
                while proxy.traffic.content.connections.isEmpty, try isOpening(proxy) {}
            } else {
                asked.wait()
            }
            let (inOrder, milliseconds) = stop(proxy)
            #expect(inOrder == isWaiting)
            #expect(milliseconds < (isWaiting ? 4_000 : 2_000))
            #expect(proxy.contradictions == [])
            let connection = try proxy.traffic.connection()
            #expect(connection.outcome == .cut)
            #expect(connection.closedBy == .tool)
            #expect(connection.cause == "the proxy was shut down")
            let exchanges = proxy.traffic.content.finalExchanges.filter {
                $0.connection == connection.id
            }
            switch business {
            case .originHandshake, .clientHandshake, .passedThrough: #expect(exchanges.isEmpty)
            case .silentOrigin, .response, .upload, .slowHead, .webSocket:
                #expect(exchanges.map(\.error) == ["cut"])
            }
        }

        /// Brings a connection to where the deadline meets it.
        private func begin(_ business: Business, _ client: Wire, _ authority: String) throws {
            let line = "GET http://\(authority)/ HTTP/1.1\r\nHost: x\r\n"
            switch business {
            case .silentOrigin, .response: try client.send("\(line)\r\n")
            case .upload: try client.send("\(line)Content-Length: 9\r\n\r\nabc")
            case .webSocket:
                try client.send("\(line)Connection: Upgrade\r\nUpgrade: x\r\n\r\n")
                _ = try client.read(through: "hello")
            case .slowHead: try client.send(line)
            case .originHandshake, .clientHandshake, .passedThrough:
                try client.send("CONNECT \(authority) HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try client.readHead()
                if business == .passedThrough {
                    try client.send([1, 2, 3])
                } else if business == .originHandshake {
                    let session = ProxyUnderTest.clientSession(for: "localhost")
                    try client.send(try firstFlight(of: session))
                } else {
                    try client.send([0x16, 3, 1, 1, 0])
                }
            }
        }

        /// Connects once more, which shows that what was sent before has been accepted.
        private func isOpening(_ proxy: ProxyUnderTest) throws -> Bool {
            let wire = try proxy.connect()
            try wire.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            _ = try wire.readToEnd()
            return false
        }

        private func firstFlight(of session: TLSSession) throws -> [UInt8] {
            session.outgoing = ByteBuffer(capacity: 16384)
            _ = session.handshake()
            return session.outgoing?.copy ?? []
        }

        @Test func nothingIsAcceptedAfterwards() throws {
            let proxy = try ProxyUnderTest()
            #expect(proxy.stop() == true)
            #expect(throws: WireFailure.self) { try proxy.connect() }
            #expect(proxy.traffic.content.connections.isEmpty)
        }

        @Test func longConnectionsAreAnnounced() throws {
            try withProxy { proxy in
                let origin = try proxy.greeter(.tls)
                let client = try proxy.secureTunnel(to: origin)
                let id = try proxy.traffic.wait(for: "the announcement") { content in
                    content.connections.values.first?.first?.id
                }
                let first = try #require(proxy.traffic.content.connections[id]?.first)
                #expect(first.closedAt == nil)
                #expect(first.outcome == .open)
                #expect(first.clientTLS?.clientHello.isEmpty == false)
                #expect(try client.get("/").status == 200)
                try client.finish()
                _ = try proxy.traffic.connection()
                #expect(proxy.traffic.content.connections[id]?.count == 2)
            }
        }

        @Test func numbersRiseAndRecordsAreWhole() throws {
            try withProxy { proxy in
                let origin = try proxy.greeter()
                let secure = try proxy.greeter(.tls)
                for _ in 0..<20 {
                    let plain = try proxy.connect()
                    let tunnel = try proxy.secureTunnel(to: secure)
                    #expect(try plain.get("http://\(origin.authority)/").status == 200)
                    #expect(try tunnel.get("/").status == 200)
                    let refused = try proxy.connect()
                    try refused.send("GET / HTTP/1.1\r\n\r\n")
                    #expect(try refused.readResponse().status == 400)
                    plain.reset()
                    try tunnel.finish()
                }
                _ = try proxy.traffic.connection(59)
                let content = proxy.traffic.content
                #expect(content.finalConnections.map(\.id) == Array(1...60))
                #expect(content.finalExchanges.map(\.id) == Array(1...60))
                #expect(
                    content.finalExchanges.allSatisfy {
                        $0.startedAt >= content.connections[$0.connection]?.last?.openedAt ?? .now()
                    })
            }
        }
    }
}
