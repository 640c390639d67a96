import Base
import HTTPCodecs
import HTTPModel
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Plain connections that change over to HTTP/2 (RFC 7540 §3.2).
    @Suite struct HTTP2Upgrades {
        private static let settings = "AAMAAABkAAQAAP__"

        /// The request that asked for it is stream 1 on both legs, and more streams follow.
        @Test func bothLegsChangeOver() throws {
            let settings = try #require(Base64.decode(Self.settings.utf8))
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    let head = try wire.readHead()
                    try check(head.contains("Upgrade: h2c"), head)
                    try check(head.contains("HTTP2-Settings: \(Self.settings)"), head)
                    try wire.send(
                        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                            + "Upgrade: h2c\r\n\r\n")
                    let peer = try HTTP2Peer(.server, wire)
                    try check(
                        peer.session.upgrade(settings: settings, isHead: false), "broken settings")
                    try peer.respond(1, "HTTP/1.1 200 OK", "first")
                    let (stream, second) = try peer.needRequest()
                    // What is said to the proxy is not for the origin, as before the change.
                    let seen = try second.requestHead()
                    try check(!seen.fields.contains(.proxyAuthorization), seen.raw.text)
                    try peer.respond(stream, "HTTP/1.1 200 OK", "hello \(second.path.text)")
                    try peer.serve()
                }
                let client = try proxy.connect()
                try client.send(
                    "GET http://\(origin.authority)/a HTTP/1.1\r\nHost: \(origin.authority)\r\n"
                        + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                        + "HTTP2-Settings: \(Self.settings)\r\n\r\n")
                #expect(try client.readHead().hasPrefix("HTTP/1.1 101 "))
                let peer = try HTTP2Peer(.client, client)
                #expect(peer.session.upgrade(settings: settings, isHead: false))
                #expect(try peer.response(1).body.text == "first")
                let second = try peer.get("/b", fields: "|Proxy-Authorization: Basic bWU6cHc=")
                #expect(second.body.text == "hello /b")
                client.close()
                let connection = try proxy.traffic.connection()
                #expect(connection.protocolName == "h2c")
                #expect(connection.exchangeCount == 2)
                let exchanges = proxy.traffic.content.finalExchanges
                #expect(exchanges.map(\.stream) == [1, 3])
                #expect(exchanges.map(\.interimHeads.count) == [1, 0])
                #expect(exchanges.allSatisfy { $0.error == nil && $0.status == 200 })
            }
        }

        /// A login that came with the upgrade is bound to that connection: no other stream has it.
        @Test func aLoginGoesNoFurtherThanItsStream() throws {
            let settings = try #require(Base64.decode(Self.settings.utf8))
            try withProxy { proxy in
                let origin = try proxy.origin { wire, number in
                    let head = try wire.readHead()
                    guard number == 0 else {
                        try check(!head.lowercased().contains("authorization"), head)
                        return try wire.send(
                            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother")
                    }
                    try wire.send(
                        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                            + "Upgrade: h2c\r\n\r\n")
                    let peer = try HTTP2Peer(.server, wire)
                    try check(
                        peer.session.upgrade(settings: settings, isHead: false), "broken settings")
                    try peer.respond(1, "HTTP/1.1 200 OK", "first")
                    try peer.serve()
                }
                let client = try proxy.connect()
                try client.send(
                    "GET http://\(origin.authority)/a HTTP/1.1\r\nHost: \(origin.authority)\r\n"
                        + "Authorization: Negotiate abc\r\n"
                        + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                        + "HTTP2-Settings: \(Self.settings)\r\n\r\n")
                #expect(try client.readHead().hasPrefix("HTTP/1.1 101 "))
                let peer = try HTTP2Peer(.client, client)
                #expect(peer.session.upgrade(settings: settings, isHead: false))
                #expect(try peer.response(1).body.text == "first")
                let second = try peer.request(
                    "GET /b HTTP/1.1", authority: origin.authority, scheme: "http")
                #expect(try peer.response(second).body.text == "other")
                client.close()
            }
        }
    }
}
