import Base
import HTTPModel
import HTTPServer
import Testing

/// A request as a driver would make it.
func request(
    _ method: String, _ path: String, _ headers: [(String, String)] = [],
    scheme: ServerRequest.Scheme = .http, at seconds: Int64 = 1_780_000_000,
    host: String = "origin.test", from peer: String = "192.0.2.1",
    version: HTTPVersion = .http11, connection: UInt64 = 1
) throws -> ServerRequest {
    ServerRequest(
        method: RequestMethod(method.utf8),
        path: try #require(RequestPath(path.utf8), "no path: \(path)"), host: host,
        version: version, fields: fields(headers),
        connection: ClientConnection(
            number: connection, peer: "\(peer):9", host: peer,
            security: scheme == .http
                ? nil
                : ClientConnection.Security(
                    serverName: nil, applicationProtocol: nil, version: "TLSv1.3", cipher: "")),
        receivedAt: Timestamp(microseconds: seconds * 1_000_000))
}

/// A field section as a reader would make it.
func fields(_ headers: [(String, String)]) -> Fields {
    var raw: [UInt8] = []
    var slices: [FieldSlice] = []
    for (name, value) in headers {
        let nameStart = raw.count
        raw += [UInt8](name.utf8)
        let nameEnd = raw.count
        raw += [UInt8](": ".utf8)
        let valueStart = raw.count
        raw += [UInt8](value.utf8)
        let valueEnd = raw.count
        raw += [UInt8]("\r\n".utf8)
        slices.append(
            FieldSlice(
                known: KnownField(name: [UInt8](name.utf8).span), name: nameStart..<nameEnd,
                value: valueStart..<valueEnd))
    }
    return Fields(raw: raw, slices: slices)
}

extension ServerResponse {
    /// Pulls the content through a buffer of `room` bytes.
    func content(room: Int = 4096, limit: Int = 1 << 20) async throws -> [UInt8] {
        let source = body.source
        let buffer = ByteBuffer(capacity: room)
        var content: [UInt8] = []
        while content.count < limit {
            let count = try await source.read(into: buffer)
            #expect(count == buffer.count)
            guard count > 0 else { break }
            content += buffer.copy
            buffer.removeAll()
        }
        return content
    }
}
