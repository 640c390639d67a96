import Base
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// What would lead clients to HTTP/3.
    @Suite struct AlternativeWays {
        /// What the origin says, and what the client gets.
        static let rows: [(name: String, came: [String], went: [String], isNoted: Bool)] = [
            ("HTTP/3 alone", [#"h3=":443"; ma=86400"#], [], true),
            ("a draft of it", [#"h3-29=":443""#], [], true),
            ("several of them", [#"h3=":443"; ma=1, h3-29=":443"; ma=1"#], [], true),
            (
                "HTTP/2 beside it", [#"h3=":443", h2="alt.example:443"; ma=60"#],
                [#"h2="alt.example:443"; ma=60"#], true
            ),
            (
                "in two fields", [#"h2=":443""#, #"h3=":443""#], [#"h2=":443""#], true
            ),
            ("HTTP/2 alone", [#"h2=":443""#], [#"h2=":443""#], false),
            ("clear", ["clear"], ["clear"], false),
            ("none", [], [], false),
            ("malformed", [#"h3=":443"#], [], true),
            (
                "malformed without HTTP/3", [#"h1="a:80", ma=1, persist=0"#],
                [#"h1="a:80", ma=1, persist=0"#], false
            ),
            ("malformed, unquoted", ["h2=a:443; ma=1"], ["h2=a:443; ma=1"], false),
            (
                "malformed with HTTP/3 in it", ["h2=a:443,h3=b:443; ma=1"], ["h2=a:443"], true
            ),
            (
                "malformed beside HTTP/3", [#"h1="a:80", ma=1"#, #"h3=":443""#],
                [#"h1="a:80", ma=1"#], true
            ),
        ]

        @Test(arguments: rows, [Way.absoluteForm, .tunnel13])
        func isTakenOut(
            _ row: (name: String, came: [String], went: [String], isNoted: Bool), _ way: Way
        ) throws {
            try withProxy { proxy in
                let came = row.came
                let origin = try proxy.origin(way.kind) { wire, _ in
                    while try wire.readHeadOrEnd() != nil {
                        try wire.send(Self.answer(came))
                    }
                }
                let client = try way.open(proxy, origin)
                for _ in 0..<2 {
                    let answer = try client.get(way.target("/", origin))
                    #expect(Self.values(answer) == row.went)
                    #expect(answer.field("x-other") == "stays")
                }
                try client.finish()
                // What came is recorded as it came.
                let exchange = try proxy.traffic.exchange()
                for value in came { #expect(exchange.responseHead.text.contains(value)) }
                let notes = try proxy.traffic.connection().notes.map(\.code)
                #expect(notes == (row.isNoted ? ["http3-advertisement-removed"] : []))
            }
        }

        @Test(arguments: rows)
        func isKeptIfWanted(
            _ row: (name: String, came: [String], went: [String], isNoted: Bool)
        ) throws {
            try withProxy(PlanChange { $0.policy.removesHTTP3 = false }) { proxy in
                let came = row.came
                let origin = try proxy.origin { wire, _ in
                    while try wire.readHeadOrEnd() != nil {
                        try wire.send(Self.answer(came))
                    }
                }
                let client = try proxy.connect()
                let answer = try client.get("http://\(origin.authority)/")
                #expect(Self.values(answer) == came)
                try client.finish()
                #expect(try proxy.traffic.connection().notes.isEmpty)
            }
        }

        /// On streams what is left of it is what an HTTP/1 client would get.
        @Test func isTakenOutOnStreamsToo() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    while try wire.readHeadOrEnd() != nil {
                        try wire.send(Self.answer([#"h3=":443""#]))
                    }
                }
                let client = try RawHTTP2(try proxy.connect())
                try client.get(stream: 1, origin.authority)
                let head = try client.next(of: 1)
                #expect(head.type == 1)
                client.wire.close()
                let notes = try proxy.traffic.connection().notes.map(\.code)
                #expect(notes == ["http3-advertisement-removed"])
            }
        }

        /// An offer may stand in any response, whatever its status (RFC 7838 §3).
        @Test(
            arguments: ["100 Continue", "103 Early Hints", "101 Switching Protocols"],
            [Way.absoluteForm, .tunnel13])
        func isTakenOutOfOtherHeads(_ status: String, _ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send(
                        "HTTP/1.1 \(status)\r\nConnection: Upgrade\r\nUpgrade: foo\r\nX-A: b\r\n"
                            + #"Alt-Svc: h3=":443""# + "\r\n\r\n")
                    if !status.hasPrefix("101") { try wire.send(Self.answer([])) }
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "GET \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n"
                        + "Connection: Upgrade\r\nUpgrade: foo\r\n\r\n")
                let head = try client.readHead()
                #expect(head.hasPrefix("HTTP/1.1 \(status)\r\n"))
                #expect(head.contains("X-A: b\r\n") && !head.lowercased().contains("alt-svc"))
                if !status.hasPrefix("101") { _ = try client.readHead() }
                client.close()
                let exchange = try proxy.traffic.exchange()
                let came = exchange.interimHeads.first ?? exchange.responseHead
                #expect(came.text.contains("Alt-Svc"))
                let isFinal = status.hasPrefix("101")
                #expect(exchange.sentResponseHead.isEmpty != isFinal)
                let notes = try proxy.traffic.connection().notes.map(\.code)
                #expect(notes == ["http3-advertisement-removed"])
            }
        }

        /// Where both connections change over to HTTP/2 too.
        @Test func isTakenOutOfAChangeToHTTP2() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.send(
                        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                            + "Upgrade: h2c\r\n" + #"Alt-Svc: h3=":443""# + "\r\n\r\n")
                }
                let client = try proxy.connect()
                try client.send(
                    "GET http://\(origin.authority)/ HTTP/1.1\r\nHost: localhost\r\n"
                        + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                        + "HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n")
                let head = try client.readHead()
                #expect(head.hasPrefix("HTTP/1.1 101 ") && !head.lowercased().contains("alt-svc"))
                client.close()
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.interimHeads.map(\.text).joined().contains("Alt-Svc"))
            }
        }

        /// Nor does one come behind a content.
        @Test func isTakenOutOfTrailers() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.send(
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
                            + "X-A: b\r\n" + #"Alt-Svc: h3=":443""# + "\r\n\r\n")
                }
                let client = try proxy.connect()
                try client.send("GET http://\(origin.authority)/ HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try client.readHead()
                #expect(try client.read(through: "\r\n\r\n").text == "0\r\nX-A: b\r\n\r\n")
                let trailers = try proxy.traffic.exchange().responseBody.trailers
                #expect(trailers.text.contains("Alt-Svc"))
            }
        }

        private static func answer(_ values: [String]) -> String {
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Other: stays\r\n"
                + values.map { "Alt-Svc: \($0)\r\n" }.joined() + "\r\n"
        }

        private static func values(_ answer: HTTPMessage) -> [String] {
            answer.fields.filter { $0.name.lowercased() == "alt-svc" }.map(\.value)
        }
    }
}
