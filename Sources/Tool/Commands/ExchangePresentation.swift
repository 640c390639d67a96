internal import Base
internal import Contents
internal import HTTPModel
internal import Redaction
internal import Traffic
internal import Views

/// Writes one exchange, whole or in parts; contents stream through.
struct ExchangePresentation {
    let exchange: ExchangeRecord
    let source: any TrafficSource
    let environment: Environment
    let isDecoded: Bool
    let withSecrets: Bool

    /// Writes a head as it was recorded, without secrets unless they are wanted.
    ///
    /// Errors: `no-such-part` if none came.
    func writeHead(_ direction: Direction) throws {
        let head = head(direction)
        guard !head.isEmpty else { throw missing(direction) }
        try environment.output.write(withSecrets ? head : HeadRedaction.redact(head: head))
    }

    /// Writes a content as it was recorded, with its secrets, or decoded.
    ///
    /// Errors: `no-such-part`, and what decoding throws.
    ///
    /// - Returns: `inconclusive` if it was not recorded whole, so that no script takes it for that.
    func writeBody(_ direction: Direction) throws -> ExitCode {
        if head(direction).isEmpty, !exchange.isHeadMissing { throw missing(direction) }
        let codings = isDecoded ? codings(direction) : nil
        let stream = try codings.map { codings throws(Failure) in
            try environment.decodeContent(codings)
        }
        try visitBody(direction, through: stream ?? .identity) { bytes in
            try environment.output.write(bytes)
            return true
        }
        let body = body(direction)
        if body.isTruncated {
            try environment.note(
                "the content had \(body.size) bytes; what is past the recording limit is not here")
        }
        return body.isTruncated ? .inconclusive : .clean
    }

    /// Writes all parts, each under a title.
    func writeAll() throws {
        if exchange.isHeadMissing { return try writeContents() }
        let stream = exchange.stream == 0 ? "" : ", stream \(exchange.stream)"
        try writeTitle("request", exchange.protocolName + stream)
        try writeBlock(head: exchange.requestHead)
        try writeReadable(.request)
        for head in exchange.interimHeads {
            try writeTitle("interim response", exchange.protocolName)
            try writeBlock(head: head)
        }
        guard !exchange.responseHead.isEmpty else {
            let reason = exchange.errorDetail ?? exchange.error ?? "still open"
            try writeTitle("no response", reason)
            return
        }
        let spoken = exchange.originProtocolName ?? exchange.protocolName
        let maker = exchange.answeredByTool ? "made by sallyport" : spoken
        try writeTitle("response", maker)
        try writeBlock(head: exchange.responseHead)
        try writeReadable(.response)
        if let status = exchange.grpcStatus {
            try writeTitle("call", GRPCStatus.text(status))
        }
        if let error = exchange.error {
            try writeTitle("error", exchange.errorDetail.map { "\(error): \($0)" } ?? error)
        }
    }

    /// Writes what there is of an exchange whose head was not recorded.
    private func writeContents() throws {
        try writeTitle("no head", exchange.errorDetail ?? "")
        for direction in [Direction.request, .response] { try writeReadable(direction) }
    }

    private func missing(_ direction: Direction) -> Failure {
        let part = direction == .request ? "request" : "response"
        let reason = exchange.error.map { ": \($0)" } ?? ""
        return Failure(
            "no-such-part", party: .tool, "exchange \(exchange.id) has no \(part)\(reason)")
    }

    func head(_ direction: Direction) -> [UInt8] {
        direction == .request ? exchange.requestHead : exchange.responseHead
    }

    func body(_ direction: Direction) -> BodyRecord {
        direction == .request ? exchange.requestBody : exchange.responseBody
    }

    func writeTitle(_ title: String, _ remark: String) throws(Failure) {
        let text = "== \(title): \(TerminalText.sanitized(remark))"
        try environment.output.write(environment.palette.paint(text, .bold) + "\n")
    }

    /// Writes a head for reading: lines end as the terminal's do.
    private func writeBlock(head: [UInt8]) throws(Failure) {
        try environment.writeText(withSecrets ? head : HeadRedaction.redact(head: head))
    }

    /// Writes a content and its trailers for reading.
    private func writeReadable(_ direction: Direction) throws {
        try ReadableContent(self, direction).write()
        let trailers = body(direction).trailers
        if !trailers.isEmpty {
            try writeTitle("trailers", exchange.protocolName)
            try environment.writeText(
                withSecrets ? trailers : HeadRedaction.redact(trailers: trailers))
        }
    }

    /// The content codings that a head names, `nil` for none.
    func codings(_ direction: Direction) -> String? {
        let codings = RecordedHead(head(direction)).values(named: "content-encoding")
            .map(\.text).joined(separator: ", ")
        return codings.isEmpty || codings.lowercased() == "identity" ? nil : codings
    }

    /// Visits a content in pieces as they come out of `stream`.
    func visitBody(
        _ direction: Direction, through stream: ContentStream, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        var isWanted = true
        try source.body(ofExchange: exchange.id, direction) { bytes in
            try stream.push(bytes) { piece in
                isWanted = try visit(piece)
                return isWanted
            }
        }
        if isWanted, !body(direction).isTruncated { _ = try visit(try stream.finish()) }
    }
}
