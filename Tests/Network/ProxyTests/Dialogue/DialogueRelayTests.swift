import Base
import Sockets
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Dialogues that are no HTTP, with their switch to TLS.
    @Suite struct Dialogues {
        @Test(arguments: DialogueScript.mail + DialogueScript.others)
        func isRelayedAndRecorded(_ script: DialogueScript) throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in try script.playOrigin(wire) }
                try script.playClient(proxy.tunnel(to: origin.authority))
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == script.outcome, "\(connection.cause)")
                #expect(connection.protocolName == script.protocolName)
                #expect(connection.upgrade == script.upgrade)
                #expect(connection.notes.map(\.code) == script.notes)
                #expect(connection.closedBy == (script.originEnds ? .origin : .client))
                let isSecured = script.upgrade != nil
                #expect((connection.clientTLS?.handshakeCompleted ?? false) == isSecured)
                #expect((connection.originTLS?.handshakeCompleted ?? false) == isSecured)
                #expect((connection.clientTLS?.keyLog.isEmpty ?? true) == !isSecured)
                for direction in [Direction.request, .response] {
                    #expect(proxy.segments(direction) == script.said(direction))
                }
            }
        }

        /// The same by the other ways in.
        @Test(arguments: [DialogueScript.mail[0], DialogueScript.others[3]])
        func isServedInFrontOfAnOrigin(_ script: DialogueScript) throws {
            let origin = try ScriptedOrigin { wire, _ in try script.playOrigin(wire) }
            let target = ProxyPlan.ReverseTarget(.tcp, host: "localhost", port: origin.port)
            try withProxy(.mode(.reverse(target))) { proxy in
                proxy.adopt(origin)
                try script.playClient(proxy.connect())
                let connection = try proxy.traffic.connection()
                #expect(connection.mode == .reverse)
                #expect(connection.upgrade == script.upgrade)
                #expect(proxy.segments(.request) == script.said(.request))
            }
        }

        @Test(arguments: [DialogueScript.mail[0], DialogueScript.others[3]])
        func isServedBySOCKS(_ script: DialogueScript) throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in try script.playOrigin(wire) }
                let client = try proxy.connect()
                let port = [UInt8(origin.port >> 8), UInt8(truncatingIfNeeded: origin.port)]
                try client.send([5, 1, 0])
                try client.expect([5, 0])
                try client.send([5, 1, 0, 1, 127, 0, 0, 1] + port)
                #expect(try client.read(10).prefix(2) == [5, 0])
                try script.playClient(client)
                let connection = try proxy.traffic.connection()
                #expect(connection.mode == .socks)
                #expect(connection.upgrade == script.upgrade)
                #expect(proxy.segments(.request) == script.said(.request))
            }
        }

        // MARK: HTTP where something else is spoken

        /// One story, whoever's bytes come first.
        @Test(
            arguments: [
                ("SSH-2.0-OpenSSH_9.2\r\n", "SSH: `SSH-2.0-OpenSSH_9.2`"),
                ("220 mx ESMTP\r\n", "SMTP: `220 mx ESMTP`"),
            ], [true, false])
        func httpToAServerThatGreetsIsRecorded(
            _ row: (greeting: String, told: String), _ greetsFirst: Bool
        ) throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    if !greetsFirst { _ = try wire.readHead() }
                    try wire.send(row.greeting)
                    _ = try wire.readToEnd()
                }
                let client = try proxy.tunnel(to: origin.authority)
                if greetsFirst { try client.expect(row.greeting.wire) }
                try client.send("GET /here HTTP/1.1\r\nHost: a.test\r\n\r\n")
                let exchange = try proxy.traffic.exchange()
                client.close()
                #expect(exchange.error == "bad-response")
                #expect(exchange.requestHead.text.hasPrefix("GET /here HTTP/1.1"))
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .broken)
                #expect(connection.cause == "origin answered HTTP with \(row.told)")
                #expect(connection.protocolName == "http/1.1")
                #expect(connection.exchangeCount == 1)
            }
        }

        // MARK: Distrust

        @Test(arguments: Refusals.Shape.allCases)
        func clientThatDistrustsIsToldOf(_ shape: Refusals.Shape) throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    try Self.upgrade.playOrigin(wire)
                }
                let client = try proxy.tunnel(to: origin.authority)
                try client.expect("220 mx ESMTP\r\n".wire)
                try client.send("STARTTLS\r\n")
                try client.expect("220 go\r\n".wire)
                try shape.play(
                    client, ProxyUnderTest.clientSession(for: "localhost", protocols: []))
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .clientRefused)
                #expect(connection.closedBy == .client)
                #expect(connection.cause.contains(shape.words))
                #expect(connection.upgrade == "STARTTLS")
                #expect(connection.protocolName == "smtp")
                #expect(connection.originTLS?.handshakeCompleted == true)
            }
        }

        private static let upgrade = DialogueScript(
            "", "smtp", "STARTTLS",
            [.origin("220 mx ESMTP\r\n"), .client("STARTTLS\r\n"), .origin("220 go\r\n"), .secure])

        @Test func originThatIsNotTrusted() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    try Self.upgrade.playOrigin(wire, authority: TestAuthority.stranger)
                }
                let client = try proxy.tunnel(to: origin.authority)
                try client.expect("220 mx ESMTP\r\n".wire)
                try client.send("STARTTLS\r\n")
                try client.expect("220 go\r\n".wire)
                #expect(throws: WireFailure.self) {
                    try client.secure(
                        ProxyUnderTest.clientSession(for: "localhost", protocols: []))
                }
                client.close()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .originUntrusted)
                #expect(connection.originTLS?.verifyError != nil)
                #expect(connection.closedBy == .tool)
                #expect(connection.protocolName == "smtp")
            }
        }

        @Test func originThatIsNotTrustedIsServedIfAskedFor() throws {
            try withProxy(.servesUnverified) { proxy in
                let script = DialogueScript.mail[0]
                let origin = try proxy.origin { wire, _ in
                    try script.playOrigin(wire, authority: TestAuthority.stranger)
                }
                try script.playClient(proxy.tunnel(to: origin.authority))
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .completed)
                #expect(connection.originTLS?.verifyError != nil)
            }
        }

        @Test func clientThatBeginsNoTLS() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    try wire.send("220 mx ESMTP\r\n")
                    try wire.expect("STARTTLS\r\n".wire)
                    try wire.send("220 go\r\n")
                    try wire.expectEnd()
                }
                let client = try proxy.tunnel(to: origin.authority)
                try client.expect("220 mx ESMTP\r\n".wire)
                try client.send("STARTTLS\r\n")
                try client.expect("220 go\r\n".wire)
                try client.send("EHLO a\r\n")
                try client.expectEnd()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .broken)
                #expect(connection.cause == "client did not begin TLS after STARTTLS")
                #expect(connection.protocolName == "smtp")
            }
        }
    }
}

extension ProxyUnderTest {
    /// What is recorded of one side, in order.
    func segments(_ direction: Direction) -> [UInt8] {
        traffic.content.messages.values.joined().filter { $0.direction == direction }
            .sorted { $0.number < $1.number }.flatMap(\.bytes)
    }
}
