internal import Audit
internal import Base
internal import ContentServer
internal import HTTPModel
internal import HTTPServer
internal import Sockets
internal import TLS

/// What one case is tried with: a server of its own, a fresh folder, and what has to come out.
struct BatteryStage: Sendable {
    let server: HTTPServer
    /// For the places in the command.
    let values: [(place: String, value: String)]
    private let content: ContentServer
    private let uploads: UploadStore?
    private let outputPath: String
    /// What the download has to be, or what is uploaded.
    private let expected: [UInt8]
    /// What a download begins with, and what is answered to who asks for the rest.
    private let first: [UInt8]
    private let page: [UInt8]

    /// - Parameter folder: where nothing is yet.
    ///
    /// Errors: `listen-failed`, those of the files.
    init(
        _ tried: BatteryCase, of kind: BatteryKind, folder: String, loop: EventLoop
    ) async throws(Failure) {
        try Files.makeFolder(folder)
        outputPath = "\(folder)/download"
        expected = try await Self.content(Self.asset, with: tried.held)
        first = try await Self.content(Self.asset, with: "")
        let faults = kind == .resume && tried.rules.count > 1 ? tried.rules[1].faults : []
        page =
            faults.isEmpty
            ? []
            : try await Self.content(
                Self.asset, with: faults.joined(separator: "|"), range: "bytes=1000000-")
        var configuration = ContentServerConfiguration()
        configuration.scenario = try Scenario.read(
            [UInt8](Self.scenario(tried, of: kind).utf8), path: "the case \(tried.id)")
        uploads = kind == .upload ? try UploadStore(path: "\(folder)/uploads") : nil
        configuration.uploads = uploads
        let content = ContentServer(configuration)
        self.content = content
        let local = try HostPort(host: "127.0.0.1", port: 0).socketAddress()
        server = try HTTPServer(
            ports: [HTTPServer.Port(local)], loops: [loop]
        ) { request, body in
            await content.answer(Self.withoutWishes(request), body)
        }
        let origin = "http://\(server.addresses[0])"
        switch kind {
        case .resume:
            values = [("{url}", origin + Self.asset + tried.query), ("{out}", outputPath)]
        case .upload:
            let file = "\(folder)/upload.bin"
            try Files.create(file, expected)
            values = [("{url}", "\(origin)/uploads/"), ("{file}", file)]
        }
    }

    /// Digests come where a case has them, and not because a client asks: few servers heed that.
    private static func withoutWishes(_ request: ServerRequest) -> ServerRequest {
        let fields = request.fields.setting("want-digest", to: nil)
            .setting("want-repr-digest", to: nil).setting("want-content-digest", to: nil)
        return request.replacing(fields: fields)
    }

    private static func scenario(_ tried: BatteryCase, of kind: BatteryKind) -> String {
        tried.rules.enumerated().map { index, rule in
            let settings = [
                ("name", "\(tried.id) \(index + 1)"),
                ("path", kind == .resume ? "/assets/*" : "/uploads*"), ("method", rule.method),
                ("range", rule.range), ("reaches", rule.reaches), ("turn", rule.turn),
            ]
            return "[rule]\n"
                + settings.filter { !$0.1.isEmpty }.map { "\($0) = \($1)\n" }.joined()
                + rule.faults.map { "fault = \($0)\n" }.joined()
        }.joined()
    }

    /// What a server with these faults sends of an asset, or of a part of it.
    private static func content(
        _ path: String, with fault: String, range: String? = nil
    ) async throws(Failure) -> [UInt8] {
        let path = fault.isEmpty ? path : "/faults/\(fault)\(path)"
        guard let path = RequestPath(path.utf8) else { return [] }
        let request = ServerRequest(
            method: .get, path: path, host: "localhost", version: .http11,
            fields: Fields.none.setting("range", to: range.map { [UInt8]($0.utf8) }),
            connection: ClientConnection(number: 1, peer: "127.0.0.1:1", host: "127.0.0.1"),
            receivedAt: Timestamp(microseconds: 0))
        let server = ContentServer(ContentServerConfiguration())
        let source = await server.answer(request, RequestBody([])).body.source
        let buffer = ByteBuffer(capacity: 65_536)
        var content: [UInt8] = []
        do throws(ResponseInterruption) {
            while try await source.read(into: buffer) > 0 {
                content += buffer.copy
                buffer.removeAll()
            }
        } catch {
            throw error.cause
        }
        return content
    }

    /// Whether what there is now is what has to be, and what is seen of it.
    func judge() throws(Failure) -> (isRight: Bool, content: BatteryContent, seen: String) {
        if let uploads {
            let isThere = uploads.holds(sha256: Digests.sha256(expected).hex)
            return (
                isThere, .other,
                isThere ? "the server has all of it" : "the server does not have it"
            )
        }
        guard Files.exists(outputPath) else {
            return (false, .nothing, BatteryDifference.text(nil, expected: expected))
        }
        let bytes: [UInt8]
        do throws(Failure) {
            bytes = try Files.readRegular(outputPath, byteLimit: 4 * expected.count)
        } catch {
            return (false, .other, "what is there is no file to read, or is much too long")
        }
        let content = BatteryContent(bytes, expected: expected, first: first, page: page)
        return (content == .right, content, BatteryDifference.text(bytes, expected: expected))
    }

    /// What the client asked, and was answered.
    var requests: [BatteryRequestRecord] {
        content.journal.contents().records.prefix(Self.requestLimit).map { record in
            BatteryRequestRecord(
                record.text(), asksForPart: record.range != nil, status: record.status,
                faults: record.faults.map { fault in
                    fault.firstRange(of: ": ").map { String(fault[$0.upperBound...]) } ?? fault
                }, isCut: record.sent?.end == .cut)
        }
    }

    private static let asset = "/assets/7/1m"
    private static let requestLimit = 50
}
