import Base
import Dispatch
import HTTPCodecs
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// What comes before, during and instead of an ordinary answer.
    @Suite struct InterimAndEarly {
        static let interims: [[String]] = [
            ["HTTP/1.1 100 Continue\r\n\r\n"],
            ["HTTP/1.1 102 Processing\r\n\r\n"],
            ["HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nlInK: </b>\r\n\r\n"],
            [
                "HTTP/1.1 102 Processing\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n",
                "HTTP/1.1 103 Early Hints\r\nLink: <b>\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
            ],
        ]

        @Test(arguments: interims, Way.allCases)
        func interimResponsesPassInOrder(_ interims: [String], _ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    for interim in interims { try wire.send(interim) }
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "GET \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                for interim in interims { #expect(try client.readHead() == interim) }
                #expect(try client.readResponse().body.text == "ok")
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.interimHeads.map(\.text) == interims)
                #expect(exchange.status == 200)
            }
        }

        @Test func oldClientGetsNoInterimResponse() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 103 Early Hints\r\n\r\n")
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
                let client = try proxy.connect()
                try client.send("GET http://\(origin.authority)/ HTTP/1.0\r\n\r\n")
                #expect(try client.readHead().hasPrefix("HTTP/1.1 200 "))
                #expect(try proxy.traffic.exchange().interimHeads.count == 1)
            }
        }

        @Test func endlessInterimResponsesAreCutOff() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    let all = String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 100)
                    try wire.send(all)
                    _ = try wire.readToEnd()
                }
                let client = try proxy.connect()
                try client.send("GET http://\(origin.authority)/ HTTP/1.1\r\nHost: x\r\n\r\n")
                for _ in 0..<64 { #expect(try client.readHead().contains(" 102 ")) }
                #expect(try client.readResponse().status == 502)
            }
        }

        // MARK: Expect

        private static func head(_ way: Way, _ origin: ScriptedOrigin, _ length: Int) -> String {
            "PUT \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n"
                + "Expect: 100-continue\r\nContent-Length: \(length)\r\n\r\n"
        }

        @Test(arguments: Way.allCases)
        func originAsksForTheContent(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    let head = try wire.readHead()
                    try check(head.contains("Expect: 100-continue"), head)
                    try wire.send("HTTP/1.1 100 Continue\r\n\r\n")
                    let content = try wire.read(5).text
                    try check(content == "12345", content)
                    try wire.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(Self.head(way, origin, 5))
                #expect(try client.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
                try client.send("12345")
                #expect(try client.readResponse().status == 201)
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.interimHeads.count == 1)
                #expect(proxy.traffic.body(exchange, .request).text == "12345")
            }
        }

        @Test(arguments: [417, 413], Way.allCases)
        func originRefusesTheContent(_ status: Int, _ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 \(status) No\r\nContent-Length: 2\r\n\r\nno")
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(Self.head(way, origin, 5))
                let response = try client.readResponse()
                #expect(response.status == status)
                #expect(response.field("connection") == "close")
                #expect(response.body.text == "no")
                try client.expectEnd()
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.status == status)
                #expect(exchange.requestBody.size == 0)
                #expect(exchange.error == nil)
            }
        }

        @Test(arguments: Way.allCases)
        func clientSendsWithoutBeingAsked(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    let request = try wire.readRequest()
                    try check(request.body.text == "12345", request.head)
                    try wire.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(Self.head(way, origin, 5))
                try client.send("12345")
                #expect(try client.readHead().hasPrefix("HTTP/1.1 201 "))
                let exchange = try proxy.traffic.exchange()
                #expect(proxy.traffic.body(exchange, .request).text == "12345")
            }
        }

        // MARK: Both directions at once

        @Test func originAnswersAndStopsReading() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    // Closes with bytes unread behind this one, which resets the connection.
                    _ = try wire.read(1)
                    try wire.send(
                        "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"
                    )
                }
                let client = try proxy.connect()
                try client.send(
                    "POST http://\(origin.authority)/ HTTP/1.1\r\nHost: x\r\n"
                        + "Content-Length: 50000000\r\n\r\n")
                let piece = sampleBytes(65536)
                do {
                    _ = try client.fill(piece, upTo: 50_000_000, patience: 300)
                } catch {
                    // The proxy may have given up reading already.
                }
                let response = try client.readResponse()
                #expect(response.status == 413)
                #expect(response.body.text == "no")
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.status == 413)
                #expect(exchange.error == nil)
                #expect(exchange.requestBody.size < 50_000_000)
            }
        }

        /// Who answers ahead and reads on gets all, and the capture holds it.
        @Test(arguments: Way.allCases)
        func originAnswersAndReadsOn(_ way: Way) throws {
            try withProxy { proxy in
                let arrived = DispatchSemaphore(value: 0)
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    try check(try wire.read(10).text == "0123456789", "the content")
                    arrived.signal()
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "POST \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n"
                        + "Content-Length: 10\r\n\r\n")
                #expect(try client.readResponse().body.text == "ok")
                try client.send("01234")
                try client.send("56789")
                #expect(arrived.wait(timeout: .now() + .seconds(Wire.patience)) == .success)
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == nil)
                #expect(proxy.traffic.body(exchange, .request).text == "0123456789")
                try client.expectEnd()
            }
        }

        /// So does an origin of HTTP/2, until it says that it wants no more (RFC 9113 §8.1).
        @Test(arguments: [true, false])
        func originOfHTTP2AnswersAndReadsOn(_ readsOn: Bool) throws {
            try withProxy { proxy in
                let origin = try proxy.http2Origin { peer, _ in
                    let (stream, _) = try peer.needRequest()
                    try peer.respond(stream, "HTTP/1.1 200 OK", "ok")
                    if readsOn {
                        try peer.wait("the content") { $0.streams[stream]?.hasEnded == true }
                        let count = peer.streams[stream]?.body.count
                        try check(count == 400_000, "\(String(describing: count))")
                    } else {
                        peer.session.reset(stream, 0)
                        try peer.flush()
                    }
                    try peer.serve()
                }
                let client = try proxy.http2Client(to: origin)
                let stream = try client.request("POST / HTTP/1.1", endsStream: false)
                #expect(try client.response(stream).body == Array("ok".utf8))
                if readsOn { try client.send(sampleBytes(400_000), on: stream) }
                // The client is told as well where nobody wants what it waits to send.
                try client.wait("the stream's end") { $0.streams[stream]?.code != nil }
                #expect(client.streams[stream]?.code == 0)
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == nil)
                #expect(exchange.requestBody.size == (readsOn ? 400_000 : 0))
                #expect(try client.get("/next").body == Array("hello /next".utf8))
            }
        }

        /// What a client then does to the rest is no less wrong for the response that it has.
        @Test(
            arguments: [
                ("zz\r\n", false, "request-smuggling", ConnectionRecord.Outcome.refused),
                ("3\r\nab", true, "client-closed", .broken),
            ], Way.allCases)
        func requestThatBreaksBehindItsResponseIsTold(
            _ row: (rest: String, ends: Bool, error: String, outcome: ConnectionRecord.Outcome),
            _ way: Way
        ) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    _ = try wire.readToEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "POST \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n")
                #expect(try client.readResponse().body.text == "ok")
                try client.send(row.rest)
                if row.ends { try client.finish() }
                _ = try client.readToEnd()
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.status == 200)
                #expect(exchange.error == row.error)
                #expect(try proxy.traffic.connection().outcome == row.outcome)
            }
        }

        /// One that was told that its connection ends may stop, and wait for that.
        @Test func clientThatStopsBehindItsResponseDoesNotWaitLong() throws {
            try withProxy(.limit(\.halfCloseGrace, 200)) { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    _ = try wire.readToEnd()
                }
                let client = try proxy.connect()
                try client.send(
                    "POST http://\(origin.authority)/ HTTP/1.1\r\nHost: localhost\r\n"
                        + "Content-Length: 10\r\n\r\n01234")
                let response = try client.readResponse()
                #expect(response.field("connection") == "close")
                try client.expectEnd()
                #expect(try proxy.traffic.exchange().error == "timed-out")
            }
        }

        /// An origin that answers ahead and then ends is no longer sent to, and the client, which may
        /// wait for its end, is told at once.
        @Test(arguments: Way.allCases, [true, false])
        func originAnswersAndEnds(_ way: Way, isClientSilent: Bool) throws {
            try withProxy { proxy in
                let told = DispatchSemaphore(value: 0)
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    told.wait()
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "POST \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n"
                        + "Content-Length: 50000000\r\n\r\n")
                #expect(try client.readResponse().body.text == "ok")
                if !isClientSilent { try client.send("some") }
                told.signal()
                try client.expectEnd()
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.status == 200)
                #expect(exchange.error == nil)
                let notes = try proxy.traffic.connection().notes
                #expect(notes.map(\.code) == ["request-unfinished"])
            }
        }

        /// A client of HTTP/2 is told that nobody reads its content any more (RFC 9113 §8.1), also
        /// behind the end of the response.
        @Test func streamsWhoseOriginEndsAreReset() throws {
            try withProxy(PlanChange { $0.policy.originVersion = .http1 }) { proxy in
                let told = DispatchSemaphore(value: 0)
                let origin = try proxy.origin(.tls) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    told.wait()
                }
                let client = try proxy.http2Client(to: origin)
                let stream = try client.request(
                    "POST /a HTTP/1.1|content-length: 50000", endsStream: false)
                try client.wait("the end of the response") { $0.streams[stream]?.hasEnded == true }
                told.signal()
                try client.wait("the reset") { $0.streams[stream]?.code != nil }
                #expect(client.streams[stream]?.code == 0)
                client.wire.close()
            }
        }

        /// A client that asked first and was answered sends no content: nothing is waited for.
        @Test(arguments: Way.allCases)
        func originAnswersInsteadOfAskingForTheContent(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(Self.head(way, origin, 5))
                #expect(try client.readResponse().body.text == "ok")
                try client.expectEnd()
                #expect(try proxy.traffic.exchange().error == nil)
            }
        }

        @Test(arguments: Way.allCases)
        func echoStreamsBothWays(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    while true {
                        let line = try wire.read(through: "\r\n")
                        let size = Int(line.dropLast(2).text, radix: 16) ?? 0
                        try wire.send(line + (try wire.read(size + 2)))
                        if size == 0 { break }
                    }
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "POST \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n")
                #expect(try client.readHead().hasPrefix("HTTP/1.1 200 "))
                // Each piece is sent when the one before has come back.
                for piece in ["1\r\na\r\n", "5\r\nbcdef\r\n", "2\r\ngh\r\n", "0\r\n\r\n"] {
                    try client.send(piece)
                    #expect(try client.read(piece.utf8.count).text == piece)
                }
                try client.finish()
                let exchange = try proxy.traffic.exchange()
                #expect(proxy.traffic.body(exchange, .request).text == "abcdefgh")
                #expect(proxy.traffic.body(exchange, .response).text == "abcdefgh")
                #expect(exchange.error == nil)
            }
        }

        // MARK: Tunnels inside

        @Test(arguments: Way.allCases)
        func webSocketIsTunnelled(_ way: Way) throws {
            try withProxy { proxy in
                let answer =
                    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                    + "Upgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n"
                let origin = try proxy.origin(way.kind) { wire, _ in
                    let request = try wire.readRequest()
                    try check(request.field("upgrade") == "websocket", request.head)
                    // In a tunnel, the origin is told what the client said of the connection.
                    let options = way == .absoluteForm ? "Upgrade" : "keep-alive, Upgrade"
                    try check(request.field("connection") == options, request.head)
                    try wire.send([UInt8](answer.utf8) + [0x81, 1, 0x61])
                    let frame = try wire.read(3)
                    try check(frame == [0x81, 1, 0x62], "\(frame)")
                    try wire.send([0x88, 0])
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                let sent =
                    "GET \(way.target("/chat", origin)) HTTP/1.1\r\nHost: localhost\r\n"
                    + "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n"
                try client.send(sent)
                let head = try client.readHead()
                #expect(head.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
                #expect(head.contains("Sec-WebSocket-Accept: x\r\n"))
                #expect(try client.read(3) == [0x81, 1, 0x61])
                try client.send([0x81, 1, 0x62])
                #expect(try client.read(2) == [0x88, 0])
                try client.finish()
                try client.expectEnd()
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.status == 101)
                #expect(exchange.requestHead.text == sent)
                #expect(exchange.responseHead.text == answer)
                let connection = try proxy.traffic.connection()
                // A client that does not mask breaks the protocol; what it sends passes all the same.
                #expect(connection.notes.map(\.code) == ["websocket-unmasked-client-frame"])
                let messages = proxy.traffic.content.messages[connection.id] ?? []
                let kinds = messages.filter { $0.direction == .response }.map(\.kind)
                #expect(kinds == [.text, .close])
                #expect(connection.outcome == .completed)
                #expect(connection.closedBy == .client)
            }
        }

        @Test func upgradeMayBeRefused() throws {
            try withProxy { proxy in
                let origin = try proxy.greeter()
                let client = try proxy.connect()
                let target = "http://\(origin.authority)/"
                let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                #expect(try client.get(target, fields: upgrade).body.text == "hello")
                #expect(try client.get(target).body.text == "hello")
            }
        }

        @Test(arguments: [200, 403])
        func originThatIsAProxyItself(status: Int) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(.tls) { wire, _ in
                    let head = try wire.readHead()
                    try check(head.hasPrefix("CONNECT inner.example:443 HTTP/1.1\r\n"), head)
                    guard status == 200 else {
                        try wire.send("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno")
                        return try wire.expectEnd()
                    }
                    try wire.send("HTTP/1.1 200 Yes\r\n\r\n")
                    let early = try wire.read(3)
                    try check(early == [1, 2, 3], "\(early)")
                    try wire.send([4, 5])
                }
                let client = try proxy.secureTunnel(to: origin)
                let head = "CONNECT inner.example:443 HTTP/1.1\r\nHost: inner.example\r\n\r\n"
                try client.send([UInt8](head.utf8) + (status == 200 ? [1, 2, 3] : []))
                if status == 200 {
                    #expect(try client.readHead() == "HTTP/1.1 200 Yes\r\n\r\n")
                    #expect(try client.readToEnd() == [4, 5])
                } else {
                    #expect(try client.readResponse().body.text == "no")
                }
                try client.finish()
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.status == status)
                #expect(exchange.requestHead.text == head)
                let isTunnel = status == 200
                #expect(proxy.traffic.body(exchange, .response).text == (isTunnel ? "" : "no"))
                let segments = try proxy.traffic.segments()
                #expect(segments[.request] ?? [] == (isTunnel ? [1, 2, 3] : []))
                #expect(segments[.response] ?? [] == (isTunnel ? [4, 5] : []))
            }
        }
    }
}
