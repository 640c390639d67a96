package import Base
internal import ContentServer
internal import HTTPCodecs
internal import HTTPModel
package import Sockets
internal import Transport

/// Asks a content server on this machine for what its journal has.
package struct JournalQuery: Sendable {
    package var server = HostPort(host: "127.0.0.1", port: 8081)
    package var client: String?
    package var path: String?
    package var range: String?
    /// What has to hold; none to list the requests.
    package var assertions: [String] = []
    package var isJSON = false
    /// What is taken of an answer, in bytes; a larger one is refused.
    package var byteLimit = 64 << 20
    /// Begins a new journal instead.
    package var resets = false

    package init() {}

    package struct Answer: Sendable {
        package let content: [UInt8]
        /// `passed`, `failed` or `unseen`; `nil` for a listing.
        package let outcome: String?
    }

    /// Errors: `assertion-unknown`, `assertions-too-many`, `bad-address`, `journal-unreachable`,
    /// `journal-refused`, `journal-too-large`, `journal-incomplete`.
    package func ask(on loop: EventLoop) async throws(Failure) -> Answer {
        for text in assertions where JournalAssertion(text) == nil {
            throw Failure(
                "assertion-unknown", party: .tool, "there is no assertion '\(text)'",
                hint: "there are \(JournalAssertion.words.joined(separator: ", "))")
        }
        guard assertions.count <= JournalAssertion.countLimit else {
            throw Failure(
                "assertions-too-many", party: .tool,
                "\(assertions.count) assertions are more than the \(JournalAssertion.countLimit)"
                    + " that are judged at once", hint: "ask in several runs")
        }
        let address = try server.socketAddress()
        let response: [UInt8]
        do {
            response = try await exchange(address, loop)
        } catch {
            throw Failure(
                "journal-unreachable", party: .origin,
                "no content server answers at \(server)",
                hint: "start one with 'sallyport content', and name its address for http: --server")
        }
        return try answer(of: response)
    }

    private func answer(of response: [UInt8]) throws(Failure) -> Answer {
        var read: (head: ResponseHead, consumed: Int)?
        do throws(HTTP1Violation) {
            read = try ResponseReader.read(response.span)
        } catch {
            read = nil
        }
        guard let (head, consumed) = read else {
            throw Failure(
                "journal-refused", party: .origin, "\(server) does not answer in HTTP/1.1")
        }
        guard response.count < byteLimit else {
            throw Failure(
                "journal-too-large", party: .tool,
                "what \(server) has is more than \(byteLimit >> 20) MiB",
                hint: "ask for less with --client, --path or --range, or give the content server"
                    + " --journal FILE")
        }
        let content = [UInt8](response[consumed...])
        guard head.status < 300 else {
            throw Failure(
                "journal-refused", party: .origin, "\(server) answers \(head.status)",
                hint: head.status == 400 ? content.trimmed.text : nil)
        }
        let length = head.fields.first(.contentLength).flatMap { decimal($0) }
        guard resets || length == UInt64(content.count) else {
            throw Failure(
                "journal-incomplete", party: .origin,
                "\(server) sent \(content.count) of \(length ?? 0) bytes")
        }
        let judged = head.fields.first(named: "sallyport-judged").flatMap { decimal($0) }
        guard assertions.isEmpty || judged == UInt64(assertions.count) else {
            throw Failure(
                "journal-incomplete", party: .origin,
                "\(server) judged \(judged ?? 0) of \(assertions.count) assertions",
                hint: "start a content server of this version")
        }
        return Answer(
            content: content, outcome: head.fields.first(named: "sallyport-outcome")?.text)
    }

    private func exchange(
        _ address: SocketAddress, _ loop: EventLoop
    ) async throws -> [UInt8] {
        let channel = try await Channel.connect(
            to: address, on: loop, deadline: loop.now + Self.patience)
        let stream = PlainStream(channel)
        defer { stream.close() }
        stream.readDeadline = loop.now + Self.patience
        stream.writeDeadline = loop.now + Self.patience
        let request =
            "\(resets ? "POST" : "GET") \(target) HTTP/1.1\r\nHost: \(server)\r\n"
            + "Connection: close\r\n\r\n"
        let buffer = ByteBuffer(capacity: 65_536)
        let bytes = [UInt8](request.utf8)
        guard bytes.count <= buffer.capacity else { throw StreamFailure.closed }
        buffer.append(bytes)
        try await stream.write(buffer)
        var response: [UInt8] = []
        while try await stream.read(into: buffer) > 0, response.count < byteLimit {
            response += buffer.copy
            buffer.removeAll()
        }
        return response
    }

    private var target: String {
        if resets { return "/.sallyport/reset" }
        var items: [(String, String)] = assertions.map { ("rule", $0) }
        if let client { items.append(("client", client)) }
        if let path { items.append(("path", path)) }
        if let range { items.append(("range", range)) }
        if !isJSON { items.append(("format", "text")) }
        let query = items.map { "\($0)=\(PercentCoding.encoded([UInt8]($1.utf8)).text)" }
        return "/.sallyport/\(assertions.isEmpty ? "journal" : "assert")"
            + (query.isEmpty ? "" : "?\(query.joined(separator: "&"))")
    }

    /// In milliseconds.
    private static let patience: UInt64 = 10_000
}
