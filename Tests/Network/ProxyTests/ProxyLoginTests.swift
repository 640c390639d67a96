import Base
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Who may use the proxy.
    @Suite struct Logins {
        private static var guarded: PlanChange { .logins(("jane", "s3cret"), ("joe", "")) }

        /// What a client says, and whether it may.
        static let fields: [(name: String, fields: String, isServed: Bool)] = [
            ("the password", basic("jane:s3cret"), true),
            ("another user", basic("joe:"), true),
            ("the scheme in another case", basic("jane:s3cret", scheme: "BASIC"), true),
            ("nothing", "", false),
            ("a wrong password", basic("jane:secret"), false),
            ("an empty password", basic("jane:"), false),
            ("an empty user", basic(":s3cret"), false),
            ("another's password", basic("joe:s3cret"), false),
            ("a longer password", basic("jane:s3cret2"), false),
            ("a password with a colon", basic("jane:s3cret:"), false),
            ("no colon", basic("jane"), false),
            ("another scheme", basic("jane:s3cret", scheme: "Bearer"), false),
            ("no Base64", "Proxy-Authorization: Basic !!!\r\n", false),
            ("no value", "Proxy-Authorization:\r\n", false),
            ("only the scheme", "Proxy-Authorization: Basic \r\n", false),
            ("a password for the origin", "Authorization: Basic amFuZTpzM2NyZXQ=\r\n", false),
        ]

        private static func basic(_ text: String, scheme: String = "Basic") -> String {
            "Proxy-Authorization: \(scheme) \(Base64.encode([UInt8](text.utf8)))\r\n"
        }

        @Test(arguments: fields, [Way.absoluteForm, .plainTunnel])
        func requestNeedsAPassword(
            _ row: (name: String, fields: String, isServed: Bool), _ way: Way
        ) throws {
            try withProxy(Self.guarded) { proxy in
                let origin = try proxy.origin { wire, _ in
                    while let head = try wire.readHeadOrEnd() {
                        try check(!head.lowercased().contains("proxy-auth"), head)
                        try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                    }
                }
                let client = try proxy.connect()
                let line =
                    way == .absoluteForm
                    ? "GET http://\(origin.authority)/" : "CONNECT \(origin.authority)"
                try client.send(
                    "\(line) HTTP/1.1\r\nHost: \(origin.authority)\r\n\(row.fields)\r\n")
                guard row.isServed else {
                    return try expectRefusal(try client.readResponse(), proxy, origin)
                }
                if way == .absoluteForm {
                    #expect(try client.readResponse().body.text == "hello")
                    // The next request needs it again.
                    #expect(try client.get("http://\(origin.authority)/").status == 407)
                } else {
                    #expect(try client.readHead().hasPrefix("HTTP/1.1 200 "))
                    #expect(try client.get("/").body.text == "hello", "inside nothing is needed")
                }
            }
        }

        private func expectRefusal(
            _ answer: HTTPMessage, _ proxy: ProxyUnderTest, _ origin: ScriptedOrigin
        ) throws {
            #expect(answer.status == 407)
            #expect(answer.field("proxy-authenticate") == "Basic realm=\"sallyport\"")
            #expect(answer.field("sallyport-error") == "proxy-authentication-required")
            let exchange = try proxy.traffic.exchange()
            #expect(exchange.status == 407)
            #expect(exchange.answeredByTool)
            #expect(origin.acceptedCount == 0)
        }

        @Test func clientMayTryAgain() throws {
            try withProxy(Self.guarded) { proxy in
                let origin = try proxy.greeter()
                let client = try proxy.connect()
                let target = "http://\(origin.authority)/"
                #expect(try client.get(target).status == 407)
                #expect(try client.get(target, fields: Self.basic("jane:s3cret")).status == 200)
                try client.send(
                    "POST \(target) HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
                #expect(try client.readResponse().status == 407)
                try client.expectEnd()
            }
        }

        @Test func reversePortNeedsNone() throws {
            let origin = try ScriptedOrigin { wire, _ in try wire.greet() }
            let target = ProxyPlan.ReverseTarget(.http, host: "localhost", port: origin.port)
            try withProxy(.all(.mode(.reverse(target)), Self.guarded)) { proxy in
                proxy.adopt(origin)
                let client = try proxy.connect()
                #expect(try client.get("/").status == 200)
            }
        }

        @Test(arguments: ["plain", "TLS"])
        func streamNeedsAPassword(_ kind: String) throws {
            try withProxy(Self.guarded) { proxy in
                let origin = try proxy.greeter()
                let wire = try proxy.connect()
                if kind == "TLS" {
                    try wire.secure(
                        ProxyUnderTest.clientSession(for: "localhost", protocols: ["h2"]))
                }
                let client = try RawHTTP2(wire)
                let login = ("proxy-authorization", "Basic amFuZTpzM2NyZXQ=")
                try client.get(stream: 1, origin.authority)
                _ = try client.next(of: 1)
                try client.get(stream: 3, origin.authority, [login])
                _ = try client.next(of: 3)
                try client.connect(stream: 5, origin.authority)
                _ = try client.next(of: 5)
                try client.connect(stream: 7, origin.authority, [login])
                let opened = try client.next(of: 7)
                #expect(opened.payload.first == 0x88, "status 200")
                try client.data(stream: 7, [UInt8]("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
                let inside = try client.readData(of: 7, 43)
                #expect(inside.text.hasSuffix("hello"))
                wire.close()
                _ = try proxy.traffic.connection(1)
                let statuses = proxy.traffic.content.finalExchanges.filter { $0.stream != 0 }
                #expect(statuses.map(\.status) == [407, 200, 407, 200])
                let refused = statuses[0].responseHead.text
                #expect(refused.contains("proxy-authenticate: Basic realm="))
            }
        }

        // MARK: SOCKS

        static let logins: [(user: String, password: String, isServed: Bool)] = [
            ("jane", "s3cret", true), ("joe", "", true), ("jane", "wr0ng!", false),
            ("jane", "", false), ("nobody", "s3cret", false), ("joe", "s3cret", false),
        ]

        @Test(arguments: logins)
        func socksNeedsAPassword(_ row: (user: String, password: String, isServed: Bool)) throws {
            try withProxy(Self.guarded) { proxy in
                let origin = try proxy.greeter()
                let client = try proxy.connect()
                try client.send([5, 2, 0, 2])
                #expect(try client.read(2) == [5, 2])
                try client.send(SOCKS.login(row.user, row.password))
                let status = try client.read(2)
                #expect(status[0] == 1)
                #expect((status[1] == 0) == row.isServed)
                guard row.isServed else {
                    #expect(try client.readToEnd() == [])
                    let connection = try proxy.traffic.connection()
                    #expect(connection.outcome == .refused)
                    #expect(connection.mode == .socks)
                    #expect(connection.closedBy == .tool)
                    #expect(!connection.cause.contains(row.password) || row.password.isEmpty)
                    return
                }
                try client.send(SOCKS.request5(SOCKS.loopback, origin.port))
                #expect(try client.readReply5() == 0)
                #expect(try client.get("/").body.text == "hello")
            }
        }

        @Test func socksWithoutLoginIsRefused() throws {
            try withProxy(Self.guarded) { proxy in
                let origin = try proxy.greeter()
                let client = try proxy.connect()
                try client.send([5, 1, 0])
                #expect(try client.readToEnd() == [5, 0xFF])
                // A user ID without a password proves nothing.
                let old = try proxy.connect()
                try old.send(SOCKS.request4([127, 0, 0, 1], origin.port, user: "jane"))
                #expect(try old.readReply4() == 91)
                #expect(try old.readToEnd() == [])
                _ = try proxy.traffic.connection(1)
                let outcomes = proxy.traffic.content.finalConnections.map(\.outcome)
                #expect(outcomes == [.refused, .refused])
                #expect(origin.acceptedCount == 0)
            }
        }

        @Test func passwordForNobodyIsNoted() throws {
            try withProxy { proxy in
                let origin = try proxy.greeter()
                let client = try proxy.connect()
                try client.send([5, 1, 2])
                #expect(try client.read(2) == [5, 2])
                try client.send(SOCKS.login("jane", "hidden"))
                #expect(try client.read(2) == [1, 0])
                try client.send(SOCKS.request5(SOCKS.loopback, origin.port))
                #expect(try client.readReply5() == 0)
                #expect(try client.get("/").status == 200)
                try client.finish()
                let notes = try proxy.traffic.connection().notes
                #expect(notes.map(\.code) == ["proxy-login"])
                #expect(notes[0].detail.contains("jane"))
                #expect(!notes[0].detail.contains("hidden"))
            }
        }
    }
}
