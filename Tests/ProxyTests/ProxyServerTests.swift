import Base
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// The ways in, and where they lead.
    @Suite struct WaysIn {
        @Test func explicitRequestGoesOnInOriginForm() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    let request = try wire.readRequest()
                    #expect(request.startLine == "GET /path?q=1 HTTP/1.1")
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                    _ = try wire.readToEnd()
                }
                let client = try proxy.connect()
                try client.send(
                    "GET http://\(origin.authority)/path?q=1 HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
                let response = try client.readResponse()
                #expect(response.body.text == "hello")
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.status == 200)
                #expect(exchange.scheme == .http)
            }
        }

        @Test func tunnelIsIntercepted() throws {
            try withProxy { proxy in
                let origin = try proxy.origin(.tls) { wire, _ in
                    _ = try wire.readRequest()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                    _ = try wire.readToEnd()
                }
                let client = try proxy.secureTunnel(to: origin)
                try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try client.readResponse().body.text == "hello")
                try client.finish()
                #expect(try client.readToEnd() == [])
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .completed)
            }
        }
    }
}
