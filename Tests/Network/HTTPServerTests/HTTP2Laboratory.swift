import Base
import HTTP2
import HTTPCodecs
import HTTPModel
import HTTPServer
import Sockets
import TLS
import Testing
import Transport

/// What carries requests to the server.
enum Wire: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case plain, secure, http2, http2Secure

    var testDescription: String { rawValue }
    var isHTTP2: Bool { self == .http2 || self == .http2Secure }
    var isSecure: Bool { self == .secure || self == .http2Secure }
}

/// What came of one request over HTTP/2.
struct Fetched: Equatable, Sendable {
    /// Status and fields of each interim response: `103 link=x`.
    var interims: [String] = []
    var status = 0
    /// Name and value of each field but Date: `content-length=2`.
    var fields: [String] = []
    var content = ""
    var trailers: [String] = []
    /// Why it did not end in order.
    var failure: HTTP2StreamFailure?
}

extension Laboratory {
    /// Runs `body` as a client of HTTP/2, over TLS if there is an authority to trust.
    func overHTTP2<Result: Sendable>(
        trusting authority: CertificateAuthority? = nil, limits: HTTP2Limits = HTTP2Limits(),
        protocols: [String] = ["h2", "http/1.1"],
        _ body: @escaping @Sendable (HTTP2Connection) async throws -> Result
    ) async throws -> Result {
        let client =
            if let authority {
                try await connectSecurely(
                    to: "origin.test", trusting: authority, protocols: protocols)
            } else {
                try await connect()
            }
        client.stream.writeDeadline = .max
        let connection = HTTP2Connection(
            client.stream, role: .client, limits: limits,
            times: HTTP2Times(write: TestClient.patience, idle: TestClient.patience))
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: loop) { await connection.run() }
            defer { connection.cut() }
            return try await body(connection)
        }
    }
}

extension HTTP2Connection {
    /// Opens a stream with `GET /` or the like.
    func open(
        _ line: String, _ fields: [(String, String)] = [], ends: Bool = true
    ) throws -> HTTP2Stream {
        let parts = line.split(separator: " ")
        let block = HTTP2Fields.own(status: nil) { add in
            add(":method", String(parts[0]))
            add(":scheme", "http")
            add(":authority", "origin.test")
            add(":path", String(parts[1]))
            for (name, value) in fields { add(name, value) }
        }
        return try #require(request(block, endsStream: ends))
    }

    func fetch(
        _ line: String, _ fields: [(String, String)] = [], content: [UInt8]? = nil,
        trailers: [(String, String)] = []
    ) async throws -> Fetched {
        let stream = try open(line, fields, ends: content == nil)
        if let content {
            let buffer = ByteBuffer(capacity: max(1, content.count))
            buffer.append(content)
            try await stream.write(buffer)
            stream.end(
                trailers: .own(status: nil) { add in
                    for (name, value) in trailers { add(name, value) }
                })
        }
        return await stream.receiveAll()
    }
}

extension HTTP2Stream {
    func receiveAll() async -> Fetched {
        var fetched = Fetched()
        do throws(HTTP2StreamFailure) {
            while let head = try await nextHead()?.responseHead() {
                let fields = head.fields.lines.filter { !$0.hasPrefix("date=") }
                if head.status >= 200 {
                    fetched.status = head.status
                    fetched.fields = fields
                    break
                }
                fetched.interims.append(([String(head.status)] + fields).joined(separator: " "))
            }
            let buffer = ByteBuffer(capacity: 65_536)
            while try await read(into: buffer) > 0 {
                fetched.content += buffer.copy.text
                buffer.removeAll()
            }
            fetched.trailers = trailers.lines
        } catch {
            fetched.failure = error
        }
        return fetched
    }
}

extension Fields {
    /// Each field as `name=value`.
    var lines: [String] { slices.map { "\(name($0).text)=\(value($0).text)" } }
}
