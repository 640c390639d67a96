import Base
import Contents
import HTTPModel
import Origins
import Testing
import Traffic
import Transport

@testable import HTTPClient

struct UpstreamTests {
    /// A name that only the upstream proxy knows is asked of it by CONNECT.
    @Test func requestsGoThroughAnUpstreamProxy() async throws {
        let outcome = try await withClient { _, stream in
            do throws(StreamFailure) {
                let buffer = ByteBuffer(capacity: 4096)
                for answer in ["", "Content-Length: 2\r\n\r\nhi"] {
                    while !buffer.copy.text.hasSuffix("\r\n\r\n") {
                        guard try await stream.read(into: buffer) > 0 else { return }
                    }
                    let asked = buffer.copy.text.prefix { $0 != "\r\n" }
                    buffer.removeAll()
                    let method = answer.isEmpty ? "CONNECT a.invalid:80" : "GET /"
                    let isRight = asked == "\(method) HTTP/1.1"
                    let head = isRight ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 400 Bad Request\r\n"
                    buffer.append([UInt8]((head + (answer.isEmpty ? "\r\n" : answer)).utf8))
                    try await stream.write(buffer)
                }
                _ = try await stream.read(into: buffer)
            } catch {
                Issue.record("the proxy failed: \(error.detail)")
            }
        } _: { client, target in
            var configuration = ClientConfiguration()
            configuration.upstreams = [UpstreamProxy(.http, host: target.host, port: target.port)]
            let other = HTTPClient(configuration, on: client.loop, recorder: client.recorder)
            return await other.run {
                await other.told(
                    ClientRequest(
                        target: OriginTarget(isSecure: false, host: "a.invalid", port: 80),
                        method: .get, isSafe: true,
                        head: Array("GET / HTTP/1.1\r\nHost: a.invalid\r\n\r\n".utf8),
                        content: .bytes([]), isChunked: false))
            }
        }
        #expect(outcome.result == "200 hi")
        #expect(outcome.connections.map(\.originHost) == ["a.invalid"])
    }

    /// Without TLS the proxy gets the whole URL, and its own login; of two proxies, the one that is
    /// not there is passed over.
    @Test func forwardsCleartext() async throws {
        let outcome = try await withClient { _, stream in
            do throws(StreamFailure) {
                let buffer = ByteBuffer(capacity: 4096)
                for _ in 0..<2 {
                    while !buffer.copy.text.hasSuffix("\r\n\r\n") {
                        guard try await stream.read(into: buffer) > 0 else { return }
                    }
                    let asked = buffer.copy.text
                    buffer.removeAll()
                    buffer.append(
                        [UInt8](
                            "HTTP/1.1 200 OK\r\nContent-Length: \(asked.utf8.count)\r\n\r\n\(asked)"
                                .utf8))
                    try await stream.write(buffer)
                }
            } catch {
                Issue.record("the proxy failed: \(error.detail)")
            }
        } _: { client, target in
            var configuration = ClientConfiguration()
            configuration.forwardsCleartext = true
            let script = "PROXY 127.0.0.1:1; PROXY u:p@\(target.host):\(target.port)"
            configuration.proxies = .script(
                try ProxyScriptProgram([UInt8](ProxyScript.text(answering: script).utf8)))
            let other = HTTPClient(configuration, on: client.loop, recorder: client.recorder)
            let request = ClientRequest(
                target: OriginTarget(isSecure: false, host: "a.invalid", port: 80), method: .get,
                isSafe: true, head: Array("GET /b?c HTTP/1.1\r\nHost: a.invalid\r\n\r\n".utf8),
                content: .bytes([]), isChunked: false)
            return await other.run { [await other.told(request), await other.told(request)] }
        }
        let head =
            "200 GET http://a.invalid/b?c HTTP/1.1\r\nProxy-Authorization: Basic dTpw\r\n"
            + "Host: a.invalid\r\n\r\n"
        #expect(outcome.result == [head, head])
        #expect(outcome.connections.map(\.originHost) == ["a.invalid"])
    }
}
