import Base
import Glibc
import HTTPModel
import Origins
import Sockets
import TLS
import Testing
import Traffic
import Transport

@testable import HTTPClient

/// Responses that are read until their origin ends the connection.
struct TruncationTests {
    /// How an origin ends a connection with TLS.
    enum End: CaseIterable, Sendable {
        case closeNotify, cutOff
    }

    /// Without close_notify the content may have been cut by anybody on the way (RFC 9112 §9.8).
    @Test(arguments: End.allCases)
    func aCutWithoutCloseNotifyIsAFailure(_ end: End) async throws {
        let authority = try Self.authority()
        var configuration = ClientConfiguration()
        configuration.authorities = [authority.certificate]
        let outcome = try await withClient(configuration) { _, stream in
            do throws(StreamFailure) {
                let context = TLSServerContext(
                    authority: authority, versions: .modern,
                    ticketKey: [UInt8](repeating: 1, count: 80))
                let secured = TLSStream(
                    stream.channel,
                    session: context.makeSession(for: "127.0.0.1", protocols: ["http/1.1"]))
                try await secured.handshake()
                let buffer = ByteBuffer(capacity: 4096)
                _ = try await secured.read(into: buffer)
                buffer.removeAll()
                buffer.append([UInt8]("HTTP/1.1 200 OK\r\n\r\nhalf".utf8))
                try await secured.write(buffer)
                if end == .closeNotify { await secured.finish() }
            } catch {
                Issue.record("the origin failed: \(error.detail)")
            }
            // Past TLS.
            stream.close()
        } _: { client, target in
            let secure = OriginTarget(isSecure: true, host: target.host, port: target.port)
            return await client.told(
                ClientRequest(
                    target: secure, method: .get, isSafe: true,
                    head: Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), content: .bytes([]),
                    isChunked: false))
        }
        #expect(outcome.result == (end == .cutOff ? "origin-truncated" : "200 half"))
        let exchange = try #require(outcome.exchanges.last)
        #expect(exchange.error == (end == .cutOff ? "origin-truncated" : nil))
        #expect(exchange.responseBody.bytes.text == "half")
    }

    private static func authority() throws -> CertificateAuthority {
        var folder = Array("/tmp/sallyport-clienttests.XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&folder) != nil)
        let path = folder.dropLast().map { UInt8(bitPattern: $0) }.text
        defer {
            for name in ["/ca/ca.pem", "/ca/ca.key", "/ca", ""] { Files.remove(path + name) }
        }
        return try CertificateAuthority.open(folder: "\(path)/ca", label: "Origin")
    }
}
