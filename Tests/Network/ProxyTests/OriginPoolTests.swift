import Base
import Dispatch
import Synchronization
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Which connection a request takes, and what ends it.
    @Suite struct Reuse {
        @Test(arguments: Way.allCases)
        func pipelinedRequestsAreAnsweredInOrder(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    while try wire.hasMore() {
                        let request = try wire.readRequest()
                        let path = request.startLine.split(separator: " ")[1]
                        let text = "\(path)=\(request.body.text)"
                        try wire.send(
                            "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
                    }
                }
                let client = try way.open(proxy, origin)
                func request(_ method: String, _ path: String, _ body: String) -> String {
                    "\(method) \(way.target(path, origin)) HTTP/1.1\r\nHost: localhost\r\n\(body)"
                }
                try client.send(
                    request("GET", "/1", "\r\n")
                        + request("POST", "/2", "Content-Length: 3\r\n\r\nabc")
                        + request("GET", "/3", "\r\n")
                        + request(
                            "POST", "/4",
                            "Transfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n")
                        + request("GET", "/5", "\r\n"))
                for expected in ["/1=", "/2=abc", "/3=", "/4=def", "/5="] {
                    #expect(try client.readResponse().body.text == expected)
                }
                #expect(origin.acceptedCount == 1)
                for (place, body) in ["", "abc", "", "def", ""].enumerated() {
                    let exchange = try proxy.traffic.exchange(place)
                    #expect(proxy.traffic.body(exchange, .request).text == body)
                }
            }
        }

        @Test(arguments: Way.allCases)
        func nextClientGetsTheConnection(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.greeter(way.kind)
                for place in 0..<3 {
                    let client = try way.open(proxy, origin)
                    #expect(try client.get(way.target("/", origin)).status == 200)
                    try client.finish()
                    try client.expectEnd()
                    #expect(try proxy.traffic.connection(place).outcome == .completed)
                }
                // A plain tunnel opens its own connection, because the origin may speak first; so
                // does one with TLS.
                if way == .absoluteForm {
                    #expect(origin.acceptedCount == 1)
                    #expect(try proxy.traffic.connection(2).originReused)
                }
            }
        }

        /// An origin that answers the first request and closes when the second has come.
        private static func forgetful(
            _ proxy: ProxyUnderTest, failures: Int, _ heard: Heard
        ) throws -> ScriptedOrigin {
            try proxy.origin { wire, number in
                if number == 0 {
                    _ = try wire.readRequest()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                }
                let request = try wire.readRequest()
                heard.note(request.startLine)
                guard number >= failures else { return }
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nagain")
                try wire.expectEnd()
            }
        }

        @Test(arguments: ["GET", "HEAD", "OPTIONS", "DELETE"])
        func repeatableRequestIsRepeatedOnce(_ method: String) throws {
            try withProxy { proxy in
                let heard = Heard()
                let origin = try Self.forgetful(proxy, failures: 1, heard)
                let client = try proxy.connect()
                let target = "http://\(origin.authority)/"
                #expect(try client.get(target).status == 200)
                try client.send("\(method) \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try client.readResponse(toHEAD: method == "HEAD").status == 200)
                #expect(heard.lines == ["\(method) / HTTP/1.1", "\(method) / HTTP/1.1"])
                #expect(try proxy.traffic.exchange(1).error == nil)
            }
        }

        @Test func repeatedRequestIsNotRepeatedAgain() throws {
            try withProxy { proxy in
                let heard = Heard()
                let origin = try Self.forgetful(proxy, failures: 9, heard)
                let client = try proxy.connect()
                let target = "http://\(origin.authority)/"
                #expect(try client.get(target).status == 200)
                let response = try client.get(target)
                #expect(response.status == 502)
                #expect(response.field("sallyport-error") == "origin-closed")
                #expect(heard.lines.count == 2)
                #expect(try proxy.traffic.exchange(1).error == "origin-closed")
            }
        }

        /// Methods with content, or that have an effect each time.
        @Test(arguments: ["POST", "PATCH", "PUT"])
        func otherRequestsAreNotRepeated(_ method: String) throws {
            try withProxy { proxy in
                let heard = Heard()
                let origin = try Self.forgetful(proxy, failures: 1, heard)
                let client = try proxy.connect()
                let target = "http://\(origin.authority)/"
                #expect(try client.get(target).status == 200)
                try client.send(
                    "\(method) \(target) HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab")
                #expect(try client.readResponse().status == 502)
                #expect(heard.lines == ["\(method) / HTTP/1.1"])
            }
        }

        /// As without us: it may open another, which no request is lost on.
        @Test(arguments: [Way.tunnel13, .tunnel12])
        func connectionThatDiedUnusedEndsItsClients(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in try wire.finish() }
                let client = try way.open(proxy, origin)
                try client.expectEnd()
                let connection = try proxy.traffic.connection()
                #expect(connection.closedBy == .origin)
                #expect(origin.acceptedCount == 1)
            }
        }

        @Test(arguments: Way.allCases)
        func unsolicitedResponseReachesNobody(_ way: Way) throws {
            try withProxy { proxy in
                let (asked, sent) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                let good = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"
                let bad = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
                let origin = try proxy.origin(way.kind) { wire, number in
                    _ = try wire.readRequest()
                    try wire.send(number == 1 ? good + bad : good)
                    if number == 0 {
                        asked.wait()
                        try wire.send(bad)
                        sent.signal()
                    }
                    _ = try wire.readToEnd()
                }
                let client = try way.open(proxy, origin)
                let target = way.target("/", origin)
                #expect(try client.get(target).body.text == "good")
                asked.signal()
                sent.wait()
                #expect(try client.get(target).body.text == "good")
                #expect(try client.get(target).body.text == "good")
                #expect(origin.acceptedCount == 3)
            }
        }

        @Test func unusedConnectionIsClosedInTime() throws {
            try withProxy(.limit(\.originIdle, 200)) { proxy in
                let ended = DispatchSemaphore(value: 0)
                let origin = try proxy.origin { wire, _ in
                    try wire.greet()
                    ended.signal()
                }
                let client = try proxy.connect()
                #expect(try client.get("http://\(origin.authority)/").status == 200)
                // The client stays; its origin is lent to others, and then nobody's.
                #expect(ended.wait(timeout: .now() + .seconds(Wire.patience)) == .success)
                #expect(try client.get("http://\(origin.authority)/").status == 200)
                #expect(origin.acceptedCount == 2)
            }
        }

        @Test func onlySoManyUnusedConnectionsAreKept() throws {
            try withProxy(.limit(\.originIdleCount, 1)) { proxy in
                let ended = DispatchSemaphore(value: 0)
                let origins = try (0..<3).map { _ in
                    try proxy.origin { wire, _ in
                        try wire.greet()
                        ended.signal()
                    }
                }
                let client = try proxy.connect()
                for origin in origins {
                    #expect(try client.get("http://\(origin.authority)/").status == 200)
                }
                #expect(ended.wait(timeout: .now() + .seconds(Wire.patience)) == .success)
            }
        }

        // MARK: What ends a connection

        @Test func clientThatClosesIsClosed() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    for _ in 0..<2 {
                        let request = try wire.readRequest()
                        try check(request.field("connection") == nil, request.head)
                        try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                    }
                    try wire.expectEnd()
                }
                for place in 0..<2 {
                    let client = try proxy.connect()
                    let field = place == 0 ? "Connection: CLOSE\r\n" : "Proxy-Connection: close\r\n"
                    let response = try client.get("http://\(origin.authority)/", fields: field)
                    #expect(response.field("connection") == "close")
                    try client.expectEnd()
                    let connection = try proxy.traffic.connection(place)
                    #expect(connection.outcome == .completed)
                    #expect(connection.closedBy == .tool)
                }
                #expect(origin.acceptedCount == 1)
            }
        }

        @Test(arguments: [Way.tunnel13, .tunnel12])
        func originThatSaysCloseNotifyIsReplaced(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readRequest()
                    let response = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
                    try wire.sendLast([UInt8](response.utf8), then: nil)
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                for _ in 0..<3 {
                    try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na")
                    #expect(try client.readResponse().body.text == "hello")
                }
                #expect(origin.acceptedCount == 3)
            }
        }

        @Test func originThatClosesIsReplaced() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readRequest()
                    try wire.send(
                        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello")
                }
                let client = try proxy.connect()
                for _ in 0..<3 {
                    let response = try client.get("http://\(origin.authority)/")
                    #expect(response.body.text == "hello")
                    #expect(response.field("connection") == nil)
                }
                #expect(origin.acceptedCount == 3)
            }
        }

        @Test func fieldsOfOneHopStayThere() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    let request = try wire.readRequest()
                    let names = request.fields.map { $0.name.lowercased() }.sorted()
                    try check(names == ["accept", "host", "x-kept"], request.head)
                    try wire.send(
                        "HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Named\r\nX-Named: 1\r\n"
                            + "Keep-Alive: timeout=5\r\nProxy-Authenticate: Basic\r\n"
                            + "X-Kept: 1\r\nContent-Length: 0\r\n\r\n")
                    try wire.expectEnd()
                }
                let client = try proxy.connect()
                let response = try client.get(
                    "http://\(origin.authority)/",
                    fields: "Connection: X-Named, keep-alive\r\nX-Named: 1\r\nKeep-Alive: 1\r\n"
                        + "Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eDp5\r\n"
                        + "TE: gzip\r\nUpgrade-Not: 1\r\nConnection: Upgrade-Not\r\nAccept: */*\r\n"
                        + "X-Kept: 1\r\n")
                let names = response.fields.map { $0.name.lowercased() }.sorted()
                #expect(names == ["content-length", "x-kept"])
                let recorded = try proxy.traffic.exchange().requestHead.text
                #expect(recorded.contains("Proxy-Authorization: Basic eDp5\r\n"))
            }
        }

        // MARK: HTTP/1.0

        @Test(arguments: [false, true])
        func oldClientGetsNoChunks(keepsAlive: Bool) throws {
            try withProxy { proxy in
                let content = sampleBytes(300_000)
                let origin = try proxy.origin { wire, _ in
                    let request = try wire.readRequest()
                    try check(request.startLine == "GET / HTTP/1.1", request.head)
                    try wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    try wire.send(chunked(content))
                    try wire.expectEnd()
                }
                let client = try proxy.connect()
                let field = keepsAlive ? "Connection: keep-alive\r\n" : ""
                try client.send("GET http://\(origin.authority)/ HTTP/1.0\r\n\(field)\r\n")
                let response = try client.readResponse()
                #expect(response.field("transfer-encoding") == nil)
                #expect(response.field("connection") == "close")
                #expect(response.body == content)
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.protocolName == "HTTP/1.0")
                #expect(proxy.traffic.body(exchange, .response) == content)
                #expect(exchange.responseHead.text.contains("Transfer-Encoding: chunked"))
            }
        }

        @Test func oldClientMayStay() throws {
            try withProxy { proxy in
                let origin = try proxy.greeter()
                let client = try proxy.connect()
                let line = "GET http://\(origin.authority)/ HTTP/1.0\r\n"
                for _ in 0..<3 {
                    try client.send("\(line)Connection: Keep-Alive\r\n\r\n")
                    let response = try client.readResponse()
                    #expect(response.field("connection") == "keep-alive")
                    #expect(response.body.text == "hello")
                }
                try client.send("\(line)\r\n")
                #expect(try client.readResponse().field("connection") == "close")
                try client.expectEnd()
                #expect(origin.acceptedCount == 1)
            }
        }

        /// What has no content has an end that an old client knows.
        @Test(
            arguments: [
                ("GET", "204 No Content\r\n"), ("GET", "304 Not Modified\r\n"),
                ("GET", "304 Not Modified\r\nContent-Length: 9\r\n"),
                ("HEAD", "200 OK\r\nContent-Length: 9\r\n"), ("HEAD", "200 OK\r\n"),
                ("HEAD", "200 OK\r\nTransfer-Encoding: chunked\r\n"),
                ("GET", "200 OK\r\nContent-Length: 0\r\n"),
            ], [Way.absoluteForm, .tunnel13])
        func oldClientMayStayWithoutContent(
            _ row: (method: String, response: String), _ way: Way
        ) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    while try wire.readHeadOrEnd() != nil {
                        try wire.send("HTTP/1.1 \(row.response)\r\n")
                    }
                }
                let client = try way.open(proxy, origin)
                for _ in 0..<3 {
                    try client.send(
                        "\(row.method) \(way.target("/", origin)) HTTP/1.0\r\n"
                            + "Connection: keep-alive\r\n\r\n")
                    let head = try client.readHead()
                    #expect(head.lowercased().contains("\r\nconnection: keep-alive\r\n"), "\(head)")
                }
                client.close()
                #expect(origin.acceptedCount == 1)
            }
        }

        @Test func oldOriginIsUsedOnce() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readRequest()
                    try wire.send("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                }
                let client = try proxy.connect()
                for _ in 0..<2 {
                    let response = try client.get("http://\(origin.authority)/")
                    #expect(response.startLine == "HTTP/1.1 200 OK")
                    #expect(response.body.text == "hello")
                }
                #expect(origin.acceptedCount == 2)
            }
        }

        // MARK: Authentication that is bound to a connection

        /// What a client sends and an origin answers that binds the connection to the client.
        static let bonds = [
            ("Authorization: NTLM TlRMTVNTUAAB\r\n", ""),
            ("authorization: negotiate YII=\r\n", ""),
            ("", "WWW-Authenticate: NTLM\r\n"),
            ("", "WWW-Authenticate: Negotiate\r\nWWW-Authenticate: Basic realm=x\r\n"),
        ]

        @Test(arguments: bonds)
        func personalConnectionStaysWithItsClient(_ request: String, _ response: String) throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, number in
                    while try wire.hasMore() {
                        _ = try wire.readRequest()
                        try wire.send(
                            "HTTP/1.1 200 OK\r\n\(response)Content-Length: 1\r\n\r\n\(number)")
                    }
                }
                let target = "http://\(origin.authority)/"
                for number in 0..<2 {
                    let client = try proxy.connect()
                    #expect(try client.get(target, fields: request).body.text == "\(number)")
                    #expect(try client.get(target).body.text == "\(number)")
                    try client.finish()
                    try client.expectEnd()
                    _ = try proxy.traffic.connection(number)
                }
            }
        }
    }
}

/// What an origin heard, over all of its connections.
final class Heard: Sendable {
    private let state = Mutex<[String]>([])
    private let news = DispatchSemaphore(value: 0)

    func note(_ line: String) {
        state.withLock { $0.append(line) }
        news.signal()
    }

    var lines: [String] { state.withLock { $0 } }

    /// Waits until something new was heard.
    func wait() { _ = news.wait(timeout: .now() + .seconds(Wire.patience)) }
}
