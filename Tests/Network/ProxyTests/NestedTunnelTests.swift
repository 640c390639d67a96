import Base
import Dispatch
import Sockets
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// TLS to the proxy itself, and tunnels inside of it.
    @Suite struct NestedTunnels {
        private func secured(
            _ proxy: ProxyUnderTest, _ protocols: [String] = ["http/1.1"]
        ) throws -> Wire {
            let wire = try proxy.connect()
            try wire.secure(ProxyUnderTest.clientSession(for: "localhost", protocols: protocols))
            #expect(wire.session?.verifyError == nil)
            return wire
        }

        @Test(arguments: [["http/1.1"], []])
        func requestsInside(_ protocols: [String]) throws {
            try withProxy { proxy in
                let (plain, secure) = (try proxy.greeter(), try proxy.greeter(.tls))
                let client = try secured(proxy, protocols)
                #expect(try client.get("http://\(plain.authority)/").body.text == "hello")
                #expect(
                    try client.get("https://localhost:\(secure.port)/").body.text == "hello")
                #expect(try client.get("/").status == 400)
                try client.finish()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .completed)
                #expect(connection.exchangeCount == 3)
                #expect(connection.clientTLS?.handshakeCompleted == true)
                let schemes = proxy.traffic.content.finalExchanges.map(\.scheme)
                #expect(schemes.prefix(2) == [.http, .https])
            }
        }

        @Test func addressHasACertificateToo() throws {
            try withProxy { proxy in
                let origin = try proxy.greeter()
                let wire = try proxy.connect()
                try wire.secure(ProxyUnderTest.clientSession(for: "127.0.0.1"))
                #expect(wire.session?.verifyError == nil)
                #expect(try wire.get("http://\(origin.authority)/").status == 200)
            }
        }

        @Test func distrustOfTheProxyHealsNothing() throws {
            let heals = PlanChange.rules { rules in
                rules.healing = HealingPlan()
                rules.healing?.rejections = 1
            }
            try withProxy(heals) { proxy in
                let client = try proxy.connect()
                _ = try client.beginSecuring(ProxyUnderTest.clientSession(for: "localhost"))
                try client.transmit([21, 3, 3, 0, 2, 2, 48])
                client.close()
                #expect(try proxy.traffic.connection().outcome == .clientRefused)
                let origin = try proxy.greeter(.tls)
                #expect(try proxy.secureTunnel(to: origin).get("/").status == 200)
            }
        }

        // MARK: Tunnels inside

        @Test(arguments: [true, false])
        func tunnelInsideTLS(isSecure: Bool) throws {
            try withProxy { proxy in
                let origin = try proxy.greeter(isSecure ? .tls : .plain)
                let outer = try secured(proxy)
                let authority = origin.authority
                try outer.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
                #expect(try outer.readHead().hasPrefix("HTTP/1.1 200 "))
                let inner = InnerWire(outer)
                if isSecure { try inner.secure("localhost") }
                for _ in 0..<3 {
                    let answer = try inner.exchange("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    #expect(answer.hasSuffix("hello"))
                }
                try outer.finish()
                _ = try outer.readToEnd()
                _ = try proxy.traffic.connection(1)
                try expectRecords(proxy, origin, protocolName: "http/1.1")
            }
        }

        private func expectRecords(
            _ proxy: ProxyUnderTest, _ origin: ScriptedOrigin, protocolName: String
        ) throws {
            let ends = proxy.traffic.content.finalConnections
            #expect(ends.count == 2)
            let (outer, inner) = (ends[0], ends[1])
            #expect(outer.outcome == .completed)
            #expect(outer.protocolName == protocolName)
            #expect(outer.clientTLS?.handshakeCompleted == true)
            #expect(inner.outcome == .completed)
            #expect(inner.client == outer.client)
            #expect(inner.listener == outer.listener)
            #expect(inner.originPort == origin.port)
            #expect(inner.exchangeCount == 3)
            #expect(inner.clientBytes.received > 60)
            let exchanges = proxy.traffic.content.finalExchanges.filter {
                $0.connection == inner.id
            }
            #expect(exchanges.map(\.status) == [200, 200, 200])
        }

        @Test func tunnelsOnStreams() throws {
            try withProxy { proxy in
                let origin = try proxy.greeter()
                let wire = try secured(proxy, ["h2"])
                let client = try RawHTTP2(wire)
                let request = [UInt8]("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
                let streams: [UInt32] = [1, 3, 5, 7]
                for stream in streams { try client.connect(stream: stream, origin.authority) }
                for stream in streams {
                    #expect(try client.next(of: stream).payload.first == 0x88, "\(stream)")
                    try client.data(stream: stream, request)
                    #expect(try client.readData(of: stream, 43).text.hasSuffix("hello"))
                    // Each ends by itself; the connection goes on.
                    try client.data(stream: stream, [], endsStream: true)
                    let end = try client.next(of: stream)
                    #expect(end.type == 0 && end.flags & 1 == 1, "\(end)")
                }
                wire.close()
                _ = try proxy.traffic.connection(4)
                let ends = proxy.traffic.content.finalConnections
                #expect(ends.count == 5)
                #expect(ends[0].protocolName == "h2")
                // A CONNECT that succeeds is a connection, and no exchange.
                #expect(ends[0].exchangeCount == 0)
                #expect(ends[0].outcome == .completed)
                // It carries several tunnels: none of their origins is its own.
                #expect(ends[0].originHost.isEmpty && ends[0].originAddress == nil)
                #expect(ends[1...].allSatisfy { $0.originPort == origin.port })
                #expect(proxy.traffic.content.finalExchanges.count == 4)
                #expect(ends[1...].allSatisfy { $0.outcome == .completed && $0.exchangeCount == 1 })
            }
        }

        /// A tunnel to the proxy itself, inside of one to it, is refused where it begins.
        @Test func tunnelInsideDoesNotLeadBack() throws {
            try withProxy { proxy in
                let outer = try secured(proxy)
                let own = proxy.address.description
                try outer.send("CONNECT \(own) HTTP/1.1\r\nHost: \(own)\r\n\r\n")
                #expect(try outer.readResponse().status == 508)
            }
        }

        // MARK: Ends

        enum Ending: String, CaseIterable {
            case close, reset, cutOff, originCloses, garbage
        }

        @Test(arguments: Ending.allCases)
        func everyTaskEnds(_ ending: Ending) throws {
            try withProxy(.limit(\.halfCloseGrace, 200)) { proxy in
                let origin = try proxy.origin { wire, _ in
                    if ending == .garbage { return try wire.expectEnd() }
                    _ = try wire.read(5)
                    try wire.send([1])
                    if ending != .originCloses { _ = try wire.readToEnd() }
                }
                let outer = try secured(proxy)
                let authority = origin.authority
                try outer.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
                _ = try outer.readHead()
                if ending == .garbage {
                    // No ClientHello: the connection inside ends, and so must the one around it,
                    // although the client does nothing more.
                    try outer.send([22, 3, 1, 0, 5, 2, 0, 0, 1, 0])
                    _ = try outer.readToEnd()
                } else {
                    try outer.send([0, 1, 2, 3, 4])
                    #expect(try outer.read(1) == [1])
                    switch ending {
                    case .close: try outer.finish()
                    case .reset: outer.reset()
                    case .cutOff: outer.close()
                    default:
                        #expect(try outer.readToEnd() == [])
                        try outer.finish()
                    }
                }
                _ = try proxy.traffic.connection(1)
                let ends = proxy.traffic.content.finalConnections
                #expect(ends.map(\.id) == [1, 2])
                let outcomes: [Ending: ConnectionRecord.Outcome] = [
                    .garbage: .refused, .reset: .broken,
                ]
                #expect(ends[1].outcome == outcomes[ending, default: .passedThrough])
            }
        }

        /// What is broken off inside of TLS or of a stream is broken off on the other side as well, and
        /// nobody else of the loop waits for it.
        @Test(arguments: [false, true], [false, true])
        func aBreakPasses(_ isOnStream: Bool, _ isClients: Bool) throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.read(5)
                    try wire.send([1])
                    if !isClients {
                        // Once the client has that byte: a reset may overtake it.
                        _ = try wire.read(1)
                        return wire.reset()
                    }
                    _ = try wire.readToEnd()
                    try check(wire.end == .reset, "\(String(describing: wire.end))")
                }
                let outer = try secured(proxy, isOnStream ? ["h2"] : [])
                let authority = origin.authority
                if isOnStream {
                    let client = try RawHTTP2(outer)
                    try client.connect(stream: 1, authority)
                    #expect(try client.next(of: 1).payload.first == 0x88)
                    try client.data(stream: 1, [0, 1, 2, 3, 4])
                    #expect(try client.readData(of: 1, 1) == [1])
                    if isClients {
                        try client.send(3, stream: 1, [0, 0, 0, 8])
                    } else {
                        try client.data(stream: 1, [5])
                        #expect(try client.next(of: 1).type == 3)
                    }
                } else {
                    try outer.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
                    _ = try outer.readHead()
                    try outer.send([0, 1, 2, 3, 4])
                    #expect(try outer.read(1) == [1])
                    if isClients {
                        outer.reset()
                    } else {
                        try outer.send([5])
                        _ = try outer.readToEnd()
                        #expect(outer.end != .inOrder)
                    }
                }
                let other = try proxy.greeter()
                #expect(try proxy.connect().get("http://\(other.authority)/").status == 200)
                outer.close()
                _ = try proxy.traffic.connection(2)
                let ends = proxy.traffic.content.finalConnections
                #expect(ends.first { $0.originPort == origin.port }?.outcome == .broken)
            }
        }

        /// A shutdown lets what runs in a tunnel inside of TLS finish.
        @Test func shutdownWaitsForTheExchangeInside() throws {
            let proxy = try ProxyUnderTest()
            let (isAsked, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let origin = try proxy.origin { wire, _ in
                _ = try wire.readHead()
                isAsked.signal()
                goesOn.wait()
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                _ = try wire.readToEnd()
            }
            let outer = try secured(proxy)
            let authority = origin.authority
            try outer.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
            _ = try outer.readHead()
            try outer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            isAsked.wait()
            // One that rests is ended first: then the proxy has done all that it does at once.
            let resting = try proxy.connect()
            #expect(
                try resting.get("http://\(try proxy.greeter().authority)/").body.text == "hello")
            proxy.requestShutdown()
            _ = try resting.readToEnd()
            goesOn.signal()
            #expect(try outer.read(through: "hello").text.hasPrefix("HTTP/1.1 200 "))
            #expect(proxy.stop() == true)
            #expect(proxy.contradictions == [])
            let exchange = try proxy.traffic.exchange()
            #expect(exchange.status == 200)
            #expect(exchange.error == nil)
        }
    }
}

/// What is spoken inside of a connection that has TLS already.
private final class InnerWire {
    private let outer: Wire
    private var session: TLSSession?

    init(_ outer: Wire) { self.outer = outer }

    func secure(_ name: String) throws {
        let session = ProxyUnderTest.clientSession(for: name)
        self.session = session
        while true {
            session.outgoing = ByteBuffer(capacity: 72 * 1024)
            let progress = session.handshake()
            try flush(session)
            switch progress {
            case .done:
                try check(session.verifyError == nil, session.verifyError ?? "")
                return
            case .failed(let failure): throw WireFailure(failure.detail)
            case .wantWrite: continue
            case .wantRead: try feed(session)
            }
        }
    }

    /// Sends a request and reads as much as an answer of the greeter has.
    func exchange(_ request: String) throws -> String {
        guard let session else {
            try outer.send(request)
            return try outer.read(through: "hello").text
        }
        let plain = ByteBuffer(capacity: 4096)
        plain.append([UInt8](request.utf8))
        session.outgoing = ByteBuffer(capacity: 72 * 1024)
        _ = session.write(plain)
        try flush(session)
        var answer: [UInt8] = []
        while !answer.text.hasSuffix("hello") {
            let read = ByteBuffer(capacity: 32768)
            session.outgoing = ByteBuffer(capacity: 72 * 1024)
            let outcome = session.read(into: read)
            try flush(session)
            answer += read.copy
            switch outcome {
            case .bytes, .wantWrite: continue
            case .wantRead: try feed(session)
            case .ended: throw WireFailure("ended after \(answer.text)")
            case .failed(let failure): throw WireFailure(failure.detail)
            }
        }
        return answer.text
    }

    private func flush(_ session: TLSSession) throws {
        guard let outgoing = session.outgoing else { return }
        session.outgoing = nil
        if !outgoing.isEmpty { try outer.send(outgoing.copy) }
    }

    private func feed(_ session: TLSSession) throws {
        let bytes = try outer.read()
        if bytes.isEmpty { throw WireFailure("the tunnel ended") }
        let waiting = session.incoming?.copy ?? []
        let buffer = ByteBuffer(capacity: waiting.count + bytes.count)
        buffer.append(waiting)
        buffer.append(bytes)
        session.incoming = buffer
    }
}
