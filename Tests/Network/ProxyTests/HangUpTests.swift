import Base
import Dispatch
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// A client that hangs up, which TCP tells of as it does of one that only listens on.
    @Suite struct HangUps {
        /// What the client has said when it goes.
        enum Talk: String, CaseIterable, CustomTestStringConvertible, Sendable {
            case absoluteForm
            case plainTunnel
            case tunnel13
            case tunnel12
            case http2
            case webSocket
            case otherProtocol

            var testDescription: String { rawValue }
            var way: Way { Way(rawValue: rawValue) ?? .plainTunnel }

            /// A connection on which the origin has been asked.
            func ask(_ proxy: ProxyUnderTest, _ origin: ScriptedOrigin) throws -> Wire {
                switch self {
                case .http2:
                    let wire = try proxy.connect()
                    try RawHTTP2(wire).get(stream: 1, origin.authority)
                    return wire
                case .otherProtocol:
                    let wire = try proxy.tunnel(to: origin.authority)
                    try wire.send([1, 2, 3, 0xF0])
                    return wire
                default:
                    let wire = try way.open(proxy, origin)
                    let fields =
                        self == .webSocket
                        ? "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                            + "Sec-WebSocket-Version: 13\r\n"
                            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" : ""
                    let target = way.target("/", origin)
                    try wire.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
                    if self == .webSocket { _ = try wire.readHead() }
                    return wire
                }
            }

            /// What the origin does before it falls silent.
            func hear(_ wire: Wire) throws {
                if self == .otherProtocol {
                    _ = try wire.read(4)
                } else {
                    _ = try wire.readHead()
                }
                guard self == .webSocket else { return }
                try wire.send(
                    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                        + "Upgrade: websocket\r\n"
                        + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")
            }
        }

        enum Departure: CaseIterable {
            case close
            case reset
            case listenAndClose
        }

        /// The grace of a client that has ended its direction is longer than a wire is patient.
        @Test(arguments: Talk.allCases, Departure.allCases)
        func silentOriginIsLeftWithItsClient(_ talk: Talk, _ departure: Departure) throws {
            let limit = PlanChange.limit(\.halfCloseGrace, 120_000)
            let (asked, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            defer { isOver.signal() }
            try withProxy(limit) { proxy in
                let origin = try proxy.origin(talk.way.kind) { wire, _ in
                    try talk.hear(wire)
                    asked.signal()
                    // It holds the connection, and says nothing.
                    isOver.wait()
                    isOver.signal()
                }
                let client = try talk.ask(proxy, origin)
                asked.wait()
                switch departure {
                case .close: client.close()
                case .reset: client.reset()
                case .listenAndClose:
                    try client.finish()
                    pause(milliseconds: 600)
                    client.close()
                }
                defer { isOver.signal() }
                let connection = try proxy.traffic.connection()
                #expect(connection.closedBy == .client)
                guard ![.webSocket, .otherProtocol].contains(talk) else { return }
                #expect(connection.outcome == .broken)
                #expect(try proxy.traffic.exchange().error == "client-closed")
            }
        }

        /// Longer than it takes to look whether the client is there.
        @Test(arguments: Way.allCases)
        func clientThatListensIsServed(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    pause(milliseconds: 700)
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                    _ = try wire.readToEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "GET \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                try client.finish()
                #expect(try client.readResponse().body.text == "hello")
                #expect(try proxy.traffic.exchange().error == nil)
            }
        }

        @Test func tunnelThatListensIsServed() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readToEnd()
                    pause(milliseconds: 700)
                    try wire.send([6, 6])
                }
                let client = try proxy.tunnel(to: origin.authority)
                try client.send([1, 2, 3, 0xF0])
                try client.finish()
                #expect(try client.readToEnd() == [6, 6])
            }
        }
    }
}
