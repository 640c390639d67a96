import Base
import HTTP2Frames
import HTTPCodecs
import HTTPModel
import TLS
import Traffic

/// What one stream has brought.
struct HTTP2Seen {
    var heads: [HTTP2Head] = []
    var body: [UInt8] = []
    var trailers = ""
    var hasEnded = false
    /// Of its end; `nil` while it is open.
    var code: UInt32?
    var malformed: String?

    /// Of the final response.
    var status: Int { heads.last?.status ?? 0 }

    func field(_ name: String) -> String? {
        heads.last?.responseHead().fields.pairs.first { $0.name == name }?.value
    }
}

/// One end of a connection of HTTP/2 on a wire, as a client or as an origin.
///
/// `@unchecked Sendable`: one thread uses it at a time.
final class HTTP2Peer: @unchecked Sendable {
    let wire: Wire
    let session: HTTP2Session
    private(set) var streams: [Int32: HTTP2Seen] = [:]
    /// Streams that the peer opened and that no test has taken yet.
    private var opened: [Int32] = []
    private(set) var goAway: (last: Int32, code: UInt32)?
    private(set) var hasEnded = false
    private(set) var hasSettings = false
    private let consumes: Bool

    /// - Parameter consumes: whether windows are opened again as content comes.
    init(
        _ role: HTTP2Session.Role, _ wire: Wire, limits: HTTP2Limits = HTTP2Limits(),
        consumes: Bool = true, allowsExtendedConnect: Bool = false
    ) throws {
        self.wire = wire
        self.consumes = consumes
        session = HTTP2Session(
            role: role, limits: limits, allowsExtendedConnect: allowsExtendedConnect)
        // The peer may have gone already, as a proxy does whose client has.
        try flushIfThere()
    }

    func flush() throws {
        while session.wantsToSend {
            let buffer = ByteBuffer(capacity: 65536)
            _ = session.send(into: buffer)
            take()
            if buffer.isEmpty { return }
            try wire.send(buffer.copy)
        }
    }

    /// Sends frames past the session.
    func say(_ frames: Frame...) throws { try wire.send(frames.flatMap(\.bytes)) }

    /// Sends what the session says by itself, which is owed to nobody who has gone; what came is still
    /// read.
    private func flushIfThere() throws {
        do {
            try flush()
        } catch is WireFailure {}
    }

    /// Reads once.
    private func pump() throws {
        try flushIfThere()
        let bytes = try wire.read()
        guard !bytes.isEmpty else {
            hasEnded = true
            return
        }
        do throws(HTTP2Violation) {
            try session.receive(bytes.span, now: 0)
        } catch {
            throw WireFailure("not HTTP/2: \(error.detail)")
        }
        take()
        try flushIfThere()
    }

    private func take() {
        for event in session.takeEvents() {
            switch event {
            case .head(let id, let head):
                if streams[id] == nil { opened.append(id) }
                streams[id, default: HTTP2Seen()].heads.append(head)
            case .content(let id, let bytes):
                streams[id, default: HTTP2Seen()].body += bytes
                if consumes { session.consume(id, bytes.count) }
            case .trailers(let id, let fields):
                streams[id, default: HTTP2Seen()].trailers = fields.raw.text
            case .ended(let id): streams[id, default: HTTP2Seen()].hasEnded = true
            case .closed(let id, let code): streams[id, default: HTTP2Seen()].code = code
            case .settings: hasSettings = true
            case .goAway(let last, let code): goAway = (last, code)
            case .promise, .violated, .unsent: break
            case .malformed(let id, _, let detail):
                streams[id, default: HTTP2Seen()].malformed = detail
            }
        }
    }

    /// Reads until `isThere`, or the peer's end.
    @discardableResult
    func wait(_ what: String, until isThere: (HTTP2Peer) -> Bool) throws -> Bool {
        while !isThere(self) {
            if hasEnded { throw WireFailure("the peer ended before \(what)") }
            try pump()
        }
        return true
    }

    /// Reads until the peer has ended.
    func waitForEnd() throws {
        while !hasEnded { try pump() }
    }

    // MARK: As a client

    /// - Parameter lines: of a request of HTTP/1, with `|` between them.
    func request(
        _ lines: String, authority: String = "localhost", scheme: StaticString = "https",
        protocolName: String? = nil, endsStream: Bool = true
    ) throws -> Int32 {
        let text = lines.replacing("|", with: "\r\n") + "\r\nHost: \(authority)\r\n\r\n"
        guard let (head, _) = try RequestReader.read(Array(text.utf8).span) else {
            throw WireFailure("no head: \(lines)")
        }
        let fields = HTTP2Fields.request(
            head, scheme: scheme, authority: Array(authority.utf8)[...], target: nil,
            protocolName: protocolName.map { Array($0.utf8) }, keepsProxyFields: true)
        guard let stream = session.request(fields, endsStream: endsStream) else {
            throw WireFailure("no stream for \(lines)")
        }
        streams[stream] = HTTP2Seen()
        try flush()
        return stream
    }

    func send(_ bytes: [UInt8], on stream: Int32, trailers: String? = nil, ends: Bool = true) throws
    {
        _ = session.append(bytes.span, to: stream)
        if ends { session.end(stream, trailers: try trailers.map(Self.trailers)) }
        try flush()
    }

    /// The whole of a response, or what there was of it when the stream was reset.
    func response(_ stream: Int32) throws -> HTTP2Seen {
        try wait("a response on \(stream)") {
            $0.streams[stream]?.code != nil || $0.streams[stream]?.hasEnded == true
        }
        return streams[stream] ?? HTTP2Seen()
    }

    func get(_ target: String, authority: String = "localhost", fields: String = "") throws
        -> HTTP2Seen
    {
        try response(try request("GET \(target) HTTP/1.1\(fields)", authority: authority))
    }

    // MARK: As an origin

    /// The next request's stream with its head; `nil` at the peer's end.
    func nextRequest() throws -> (stream: Int32, head: HTTP2Head)? {
        while opened.isEmpty {
            if hasEnded { return nil }
            try pump()
        }
        let stream = opened.removeFirst()
        return streams[stream]?.heads.first.map { (stream, $0) }
    }

    func needRequest() throws -> (stream: Int32, head: HTTP2Head) {
        guard let request = try nextRequest() else { throw WireFailure("no request came") }
        return request
    }

    func respond(
        _ stream: Int32, _ lines: String = "HTTP/1.1 200 OK", _ content: String = "",
        trailers: String? = nil, ends: Bool = true
    ) throws {
        let isBare = content.isEmpty && trailers == nil && ends
        session.respond(stream, try Self.response(lines), endsStream: isBare)
        if !isBare { try send(Array(content.utf8), on: stream, trailers: trailers, ends: ends) }
        try flush()
    }

    static func response(_ lines: String) throws -> HTTP2Fields {
        let text = lines.replacing("|", with: "\r\n") + "\r\n\r\n"
        guard let (head, _) = try ResponseReader.read(Array(text.utf8).span) else {
            throw WireFailure("no head: \(lines)")
        }
        return .response(head, keepsProxyFields: true)
    }

    private static func trailers(_ lines: String) throws -> HTTP2Fields {
        let text = "HTTP/1.1 200 OK\r\n" + lines.replacing("|", with: "\r\n") + "\r\n\r\n"
        guard let (head, _) = try ResponseReader.read(Array(text.utf8).span) else {
            throw WireFailure("no trailers: \(lines)")
        }
        return .trailers(head.fields)
    }

    /// Answers every request with its path until the peer has gone.
    func serve() throws {
        while let (stream, head) = try nextRequest() {
            try respond(stream, "HTTP/1.1 200 OK", "hello \(head.path.text)")
        }
    }
}

extension ProxyUnderTest {
    /// A client of HTTP/2 in a tunnel with TLS.
    func http2Client(
        to origin: ScriptedOrigin, limits: HTTP2Limits = HTTP2Limits(), consumes: Bool = true
    ) throws -> HTTP2Peer {
        let wire = try secureTunnel(to: origin, protocols: ["h2"])
        try check(wire.session?.parameters.alpn == "h2", "the proxy did not choose h2")
        return try HTTP2Peer(.client, wire, limits: limits, consumes: consumes)
    }

    /// An origin that speaks HTTP/2.
    func http2Origin(
        limits: HTTP2Limits = HTTP2Limits(), consumes: Bool = true,
        allowsExtendedConnect: Bool = false,
        _ script: @escaping @Sendable (_ peer: HTTP2Peer, _ number: Int) throws -> Void
    ) throws -> ScriptedOrigin {
        try origin(.http2) { wire, number in
            let peer = try HTTP2Peer(
                .server, wire, limits: limits, consumes: consumes,
                allowsExtendedConnect: allowsExtendedConnect)
            try script(peer, number)
        }
    }

    /// The last connection that spoke HTTP/2, once it has ended.
    func http2Connection() throws -> ConnectionRecord {
        try traffic.wait(for: "the end of a connection of h2") { content in
            content.finalConnections.last { $0.protocolName.hasPrefix("h2") }
        }
    }
}
