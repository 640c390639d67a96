internal import Base
internal import Contents
internal import HTTPModel
internal import Redaction
package import Terminal
package import Traffic
internal import Views

/// Writes one exchange, whole or in parts; contents stream through.
package struct ExchangePresentation {
    private let exchange: ExchangeRecord
    private let recorded: RecordedExchange
    private let console: Console
    private let isDecoded: Bool
    private let withSecrets: Bool

    package init(
        _ exchange: ExchangeRecord, in source: any TrafficSource, isDecoded: Bool,
        withSecrets: Bool, to console: Console
    ) {
        self.exchange = exchange
        recorded = RecordedExchange(exchange, in: source)
        self.console = console
        self.isDecoded = isDecoded
        self.withSecrets = withSecrets
    }

    /// Writes a head as it was recorded, without secrets unless they are wanted.
    ///
    /// Errors: `no-such-part` if none came.
    package func writeHead(_ direction: Direction) throws {
        let head = recorded.head(direction)
        guard !head.isEmpty else { throw missing(direction) }
        try console.output.write(withSecrets ? head : HeadRedaction.redact(head: head))
    }

    /// Writes a content as it was recorded, with its secrets, or decoded.
    ///
    /// Errors: `no-such-part`, and what decoding throws.
    ///
    /// - Returns: whether it was recorded whole, so that no script takes a part for that.
    package func writeBody(_ direction: Direction) throws -> Bool {
        if recorded.head(direction).isEmpty, !exchange.isHeadMissing { throw missing(direction) }
        let codings = isDecoded ? try recorded.codings(direction) : []
        try recorded.visitBody(direction, without: codings) { bytes in
            try console.output.write(bytes)
            return true
        }
        let body = recorded.body(direction)
        if body.isTruncated {
            try console.note(
                "the content had \(body.size) bytes; what is past the recording limit is not here")
        }
        return !body.isTruncated
    }

    /// Writes all parts, each under a title.
    package func writeAll() throws {
        if exchange.isHeadMissing { return try writeContents() }
        let stream = exchange.stream == 0 ? "" : ", stream \(exchange.stream)"
        try writeTitle("request", exchange.protocolName + stream)
        try writeBlock(head: exchange.requestHead)
        try writeSent(exchange.sentRequestHead, "request as it was sent on")
        try writeReadable(.request)
        for head in exchange.interimHeads {
            try writeTitle("interim response", spoken(.response))
            try writeBlock(head: head)
        }
        guard !exchange.responseHead.isEmpty else {
            let reason = exchange.errorDetail ?? exchange.error ?? "still open"
            try writeTitle("no response", reason)
            return
        }
        let maker = exchange.answeredByTool ? "made by sallyport" : spoken(.response)
        try writeTitle("response", maker)
        try writeBlock(head: exchange.responseHead)
        try writeSent(exchange.sentResponseHead, "response as it was sent on")
        try writeReadable(.response)
        if let status = exchange.grpcStatus {
            try writeTitle("call", GRPCStatus.text(status))
        }
        if let error = exchange.error {
            try writeTitle("error", exchange.errorDetail.map { "\(error): \($0)" } ?? error)
        }
    }

    /// Writes a head that was changed on its way; empty for none.
    private func writeSent(_ head: [UInt8], _ title: String) throws(Failure) {
        guard !head.isEmpty else { return }
        try writeTitle(title, "changed by sallyport")
        try writeBlock(head: head)
    }

    /// Writes what there is of an exchange whose head was not recorded.
    private func writeContents() throws {
        try writeTitle("no head", exchange.errorDetail ?? "")
        for direction in [Direction.request, .response] { try writeReadable(direction) }
    }

    /// What the one who sent a message speaks.
    private func spoken(_ direction: Direction) -> String {
        direction == .request
            ? exchange.protocolName : exchange.originProtocolName ?? exchange.protocolName
    }

    private func missing(_ direction: Direction) -> Failure {
        let part = direction == .request ? "request" : "response"
        let reason = exchange.error.map { ": \($0)" } ?? ""
        return Failure(
            "no-such-part", party: .tool, "exchange \(exchange.id) has no \(part)\(reason)")
    }

    private func writeTitle(_ title: String, _ remark: String) throws(Failure) {
        let text = "== \(title): \(TerminalText.sanitized(remark))"
        try console.output.write(console.palette.paint(text, .bold) + "\n")
    }

    /// Writes a head for reading: lines end as the terminal's do.
    private func writeBlock(head: [UInt8]) throws(Failure) {
        try console.writeText(withSecrets ? head : HeadRedaction.redact(head: head))
    }

    /// Writes a content and its trailers for reading.
    private func writeReadable(_ direction: Direction) throws {
        try writeContent(direction)
        let trailers = recorded.body(direction).trailers
        if !trailers.isEmpty {
            try writeTitle("trailers", spoken(direction))
            try console.writeText(
                withSecrets ? trailers : HeadRedaction.redact(trailers: trailers))
        }
    }

    /// Writes a content as text or as a dump, under a title that says what was done to it.
    private func writeContent(_ direction: Direction) throws {
        let content = try ReadableContent(
            of: recorded, direction, demandsDecoding: isDecoded, withSecrets: withSecrets)
        guard let content else { return }
        let title = direction == .request ? "request content" : "response content"
        if case .withheld(let claimed) = content.treatment {
            return try writeTitle(
                title,
                "\(content.size), withheld: not the \(claimed) that its type claims;"
                    + " --with-secrets shows it")
        }
        guard let text = content.text else {
            let dump = content.bytes.prefix(Self.dumpLimit)
            let extent =
                dump.count < content.bytes.count ? ", the first \(dump.count) as a dump" : ""
            try writeTitle(title, "\(content.size), binary\(extent), \(words(content.treatment))")
            return try console.output.write(HexDump.render(dump))
        }
        try writeTitle(title, "\(content.size), \(words(content.treatment))")
        try console.writeText([UInt8](text.utf8))
        if let cut = content.cut {
            try writeTitle(
                "cut",
                cut.recorded < cut.size
                    ? "\(cut.recorded) bytes of the content were recorded; --part shows them"
                    : "the content has \(cut.size) bytes; --part shows all")
        }
    }

    private func words(_ treatment: ReadableContent.Treatment) -> String {
        switch treatment {
        case .masked: "secrets are masked; --with-secrets shows them"
        case .nothingFound: "no secret found by its name"
        case .shownAsRecorded, .withheld: "shown as recorded"
        }
    }

    /// In bytes: more of a dump is not read.
    private static let dumpLimit = 4096
}
