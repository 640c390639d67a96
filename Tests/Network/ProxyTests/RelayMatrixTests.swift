import Base
import HTTPCodecs
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// What the relay does, for each way in, version of the client and kind of origin.
    @Suite struct RelayMatrix {
        /// A connection that has served before, or a stream that was refused, costs the client
        /// nothing; one that was not asked for sees what its origin did, and repeats by itself.
        @Test(arguments: RelayCase.all) func retries(_ row: RelayCase) throws {
            try row.run { wire, number in
                guard number == 0 else { return try wire.greet() }
                _ = try wire.readHead()
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                _ = try wire.readHeadOrEnd()
            } http2: { peer, _ in
                try peer.respond(try peer.needRequest().stream, "HTTP/1.1 200 OK", "hello")
                peer.session.reset(try peer.needRequest().stream, HTTP2ErrorCode.refusedStream)
                while let (stream, _) = try peer.nextRequest() {
                    try peer.respond(stream, "HTTP/1.1 200 OK", "hello")
                }
            } _: { _, client in
                let hello = RelayClient.Answer(status: 200, body: "hello")
                let answers = [try client.get(), try client.get()]
                #expect(answers == [hello, row.mirrorsOrigin ? .none : hello])
            }
        }

        @Test(arguments: RelayCase.all) func passesInterimResponses(_ row: RelayCase) throws {
            try row.run { wire, _ in
                _ = try wire.readHead()
                try wire.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                try wire.expectEnd()
            } http2: { peer, _ in
                let (stream, _) = try peer.needRequest()
                peer.session.inform(
                    stream, try HTTP2Peer.response("HTTP/1.1 103 Early Hints|Link: </a>"))
                try peer.respond(stream, "HTTP/1.1 200 OK", "hello")
                try peer.waitForEnd()
            } _: { proxy, client in
                let answer = try client.get()
                #expect(answer.status == 200 && answer.interims == [103] && answer.body == "hello")
                #expect(try proxy.traffic.exchange().interimHeads.count == 1)
            }
        }

        @Test(arguments: RelayCase.all) func passesTrailers(_ row: RelayCase) throws {
            try row.run { wire, _ in
                _ = try wire.readHead()
                try wire.send(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"
                        + "X-Sum: 5\r\n\r\n")
                try wire.expectEnd()
            } http2: { peer, _ in
                let (stream, _) = try peer.needRequest()
                try peer.respond(stream, "HTTP/1.1 200 OK", "hello", trailers: "X-Sum: 5")
                try peer.waitForEnd()
            } _: { proxy, client in
                let answer = try client.get()
                #expect(answer.status == 200 && answer.body == "hello" && answer.isWhole)
                #expect(answer.trailers.hasPrefix("x-sum: 5\r\n"))
                let trailers = try proxy.traffic.exchange().responseBody.trailers
                #expect(trailers.text.lowercased().hasPrefix("x-sum: 5\r\n"))
            }
        }

        /// A client must not take half a response for a whole one.
        @Test(arguments: RelayCase.all) func showsTruncation(_ row: RelayCase) throws {
            try row.run { wire, _ in
                _ = try wire.readHead()
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
            } http2: { peer, _ in
                let (stream, _) = try peer.needRequest()
                try peer.respond(
                    stream, "HTTP/1.1 200 OK|Content-Length: 10", "hello", ends: false)
                peer.session.reset(stream, HTTP2ErrorCode.internalError)
                try peer.waitForEnd()
            } _: { proxy, client in
                let answer = try client.get()
                #expect(!answer.isWhole)
                let record = try proxy.traffic.exchange()
                #expect(record.error == (row.origin.isHTTP2 ? "origin-reset" : "origin-closed"))
            }
        }

        /// An origin that hangs up without a response is told as such, by a response of ours where
        /// the client has asked us, and else by the same.
        @Test(arguments: RelayCase.all) func answersForAnOriginThatHangsUp(_ row: RelayCase) throws
        {
            try row.run { wire, _ in
                _ = try wire.readHeadOrEnd()
            } http2: { peer, _ in
                _ = try peer.nextRequest()
            } _: { proxy, client in
                #expect(try client.get().status == (row.mirrorsOrigin ? 0 : 502))
                let record = try proxy.traffic.exchange()
                #expect(record.error == "origin-closed")
                #expect(record.answeredByTool != row.mirrorsOrigin)
            }
        }

        /// A protocol that the request offers is spoken if the origin takes it; one of HTTP/2 is not
        /// asked.
        @Test(arguments: RelayCase.all.filter { $0.client == .http1 })
        func passesAnUpgrade(_ row: RelayCase) throws {
            try row.run { wire, _ in
                let head = try wire.readHead()
                try check(head.lowercased().contains("upgrade: echo"), head)
                try wire.send(
                    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo"
                        + "\r\n\r\n")
                try wire.send(try wire.read(4))
                try wire.expectEnd()
            } http2: { peer, _ in
                try peer.respond(try peer.needRequest().stream, "HTTP/1.1 200 OK", "hello")
                try peer.waitForEnd()
            } _: { _, client in
                let answer = try client.get(fields: "Connection: Upgrade\r\nUpgrade: echo\r\n")
                guard !row.origin.isHTTP2 else { return #expect(answer.body == "hello") }
                #expect(answer.status == 101)
                try client.wire.send("ping")
                #expect(try client.wire.read(4).text == "ping")
            }
        }
    }
}
