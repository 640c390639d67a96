import Base
import Dispatch
import HTTP2Frames
import HTTPCodecs
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Authentications that are bound to a connection (RFC 4559 §6), of clients of HTTP/2, and how
    /// many connections such a client has.
    @Suite struct HTTP2Logins {
        /// A connection of HTTP/2 that somebody has logged in on is as little lent as one of HTTP/1.
        @Test(arguments: ["NTLM abc", "Negotiate abc", "Basic eA==, NTLM abc"])
        func authenticatedConnectionOfHTTP2IsNotLent(_ credential: String) throws {
            try withProxy { proxy in
                let origin = try proxy.http2Origin { peer, number in
                    while let (stream, _) = try peer.nextRequest() {
                        try peer.respond(stream, "HTTP/1.1 200 OK", "\(number)")
                    }
                }
                let first = try proxy.http2Client(to: origin)
                let get = { (line: String) throws -> String in
                    try first.response(try first.request(line)).body.text
                }
                // The first of all is the one of the tunnel's handshake.
                #expect(try get("GET /a HTTP/1.1|Authorization: \(credential)") == "1")
                #expect(try get("GET /b HTTP/1.1") == "0")
                #expect(try get("GET /c HTTP/1.1|Authorization: \(credential)") == "2")
                #expect(try get("GET /d HTTP/1.1|Authorization: NTLM def") == "3")
                #expect(try get("GET /e HTTP/1.1") == "0")
                first.wire.close()
                _ = try proxy.http2Connection()
                let second = try proxy.http2Client(to: origin)
                #expect(["0", "4"].contains(try second.get("/f").body.text))
                second.wire.close()
            }
        }

        /// The step behind a challenge with a token goes where the challenge came from, also if
        /// other connections were put aside behind it.
        @Test(arguments: [true, false])
        func theNextStepOfALoginStaysOnItsConnection(isOriginOfHTTP2: Bool) throws {
            let change = PlanChange {
                if !isOriginOfHTTP2 { $0.policy.originVersion = .http1 }
            }
            try withProxy(change) { proxy in
                let slow = DispatchSemaphore(value: 0)
                let challenge = "HTTP/1.1 401 U|WWW-Authenticate: NTLM c3RlcDI="
                let origin =
                    isOriginOfHTTP2
                    ? try proxy.http2Origin { peer, number in
                        while let (stream, head) = try peer.nextRequest() {
                            switch head.path.text {
                            case "/1": try peer.respond(stream, challenge, "\(number)")
                            default: try peer.respond(stream, "HTTP/1.1 200 OK", "\(number)")
                            }
                        }
                    }
                    : try proxy.origin(.tls) { wire, number in
                        while try wire.hasMore() {
                            let head = try wire.readHead()
                            if head.hasPrefix("GET /slow ") { slow.wait() }
                            let answer =
                                head.hasPrefix("GET /1 ") ? challenge : "HTTP/1.1 200 OK"
                            try wire.send(
                                answer.split(separator: "|").joined(separator: "\r\n")
                                    + "\r\nContent-Length: 1\r\n\r\n\(number)")
                        }
                    }
                let client = try proxy.http2Client(to: origin)
                let other = try client.request("GET /slow HTTP/1.1")
                let step = try client.response(
                    try client.request("GET /1 HTTP/1.1|Authorization: NTLM c3RlcDE="))
                #expect(step.status == 401)
                slow.signal()
                _ = try client.response(other)
                let next = try client.request("GET /2 HTTP/1.1|Authorization: NTLM c3RlcDM=")
                #expect(try client.response(next).body.text == step.body.text)
                client.wire.close()
            }
        }

        /// A user, or who vouches for one, takes longer than the pause in which what others have
        /// left behind is lent.
        @Test func theNextStepOfALoginMayTakeItsTime() throws {
            try withProxy { proxy in
                let origin = try proxy.origin(.plain) { wire, number in
                    while try wire.hasMore() {
                        let status = try wire.readHead().hasPrefix("GET /1 ") ? "401 U" : "200 OK"
                        try wire.send(
                            "HTTP/1.1 \(status)\r\nWWW-Authenticate: NTLM c3RlcDI=\r\n"
                                + "Content-Length: 1\r\n\r\n\(number)")
                    }
                }
                let client = try HTTP2Peer(.client, try proxy.connect())
                let get = { (line: String) throws -> String in
                    try client.response(
                        try client.request(line, authority: origin.authority, scheme: "http")
                    ).body.text
                }
                #expect(try get("GET /0 HTTP/1.1") == "0")
                let step = try get("GET /1 HTTP/1.1|Authorization: NTLM c3RlcDE=")
                // Two looks of the loop at what rests.
                pause(milliseconds: 700)
                #expect(try get("GET /2 HTTP/1.1|Authorization: NTLM c3RlcDM=") == step)
                client.wire.close()
            }
        }

        /// While a stream is open, what others have left behind is kept for the next, but not all.
        @Test func connectionsPutAsideAreBounded() throws {
            let count = 40
            let change = PlanChange {
                $0.policy.originVersion = .http1
                $0.wiring.limits.originIdleCount = 0
            }
            try withProxy(change) { proxy in
                let came = DispatchSemaphore(value: 0)
                let go = DispatchSemaphore(value: 0)
                let ended = DispatchSemaphore(value: 0)
                let origin = try proxy.origin(.tls) { wire, _ in
                    let head = try wire.readHead()
                    came.signal()
                    if head.hasPrefix("GET /held ") { return try wire.expectEnd() }
                    go.wait()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")
                    try wire.expectEnd()
                    ended.signal()
                }
                let client = try proxy.http2Client(to: origin)
                _ = try client.request("GET /held HTTP/1.1")
                let streams = try (0..<count).map { _ in try client.request("GET /a HTTP/1.1") }
                try client.flush()
                for _ in 0...count {
                    try check(came.wait(timeout: .now() + 60) == .success, "a request is missing")
                }
                for _ in 0..<count { go.signal() }
                for stream in streams { _ = try client.response(stream) }
                for _ in 0..<8 {
                    try check(ended.wait(timeout: .now() + 60) == .success, "all are kept")
                }
                client.wire.close()
            }
        }

        /// On a stream of HTTP/2 any 2xx opens a WebSocket (RFC 8441 §5): what an origin of HTTP/1
        /// has not agreed to must not look like one.
        @Test(arguments: [
            ("200 OK\r\nContent-Length: 3", "the origin answered 200 and opened no WebSocket"),
            ("204 No Content", "the origin answered 204 and opened no WebSocket"),
            (
                "101 S\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x",
                "the origin switched with another Sec-WebSocket-Accept than the key asks for"
            ),
            (
                "101 S\r\nConnection: Upgrade\r\nUpgrade: websocket",
                "the origin switched with another Sec-WebSocket-Accept than the key asks for"
            ),
        ])
        func whatIsNoWebSocketIsTold(_ answer: String, _ detail: String) throws {
            try withProxy(PlanChange { $0.policy.originVersion = .http1 }) { proxy in
                let origin = try proxy.origin(.tls) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 \(answer)\r\n\r\nabc")
                    try wire.expectEnd()
                }
                let wire = try proxy.secureTunnel(to: origin, protocols: ["h2"])
                let client = try RawHTTP2(wire)
                try client.request(
                    stream: 1,
                    [
                        (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"),
                        (":authority", "localhost"), (":path", "/chat"),
                        ("sec-websocket-version", "13"),
                    ])
                let head = try client.next(of: 1)
                #expect(head.type == 1 && head.payload.first.map { 0x88...0x8A ~= $0 } == false)
                let record = try proxy.traffic.exchange()
                #expect(record.error == "websocket-disagreed")
                #expect(record.errorDetail == detail)
                #expect(record.status == 502)
                #expect(record.answeredByTool)
                wire.close()
            }
        }
    }
}
