internal import Base
internal import Traffic

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

    /// Writes a content as it was recorded, or decoded. Errors: `no-such-part`, and what decoding
    /// throws.
    func writeBody(_ direction: Direction) throws {
        if head(direction).isEmpty { throw missing(direction) }
        try visitBody(direction) { bytes in
            try environment.output.write(bytes)
            return true
        }
        let body = body(direction)
        if body.isTruncated {
            try environment.note(
                "the content had \(body.size) bytes; what is past the recording limit is not here")
        }
    }

    /// Writes all parts, each under a title.
    func writeAll() throws {
        try writeTitle("request", exchange.protocolName)
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
        let maker = exchange.answeredByTool ? "made by sallyport" : exchange.protocolName
        try writeTitle("response", maker)
        try writeBlock(head: exchange.responseHead)
        try writeReadable(.response)
        if let error = exchange.error {
            try writeTitle("error", exchange.errorDetail.map { "\(error): \($0)" } ?? error)
        }
    }

    private func missing(_ direction: Direction) -> Failure {
        let part = direction == .request ? "request" : "response"
        let reason = exchange.error.map { ": \($0)" } ?? ""
        return Failure(
            "no-such-part", party: .tool, "exchange \(exchange.id) has no \(part)\(reason)")
    }

    private func head(_ direction: Direction) -> [UInt8] {
        direction == .request ? exchange.requestHead : exchange.responseHead
    }

    private func body(_ direction: Direction) -> BodyRecord {
        direction == .request ? exchange.requestBody : exchange.responseBody
    }

    private func writeTitle(_ title: String, _ remark: String) throws(Failure) {
        let text = "== \(title): \(TerminalText.sanitized(remark))"
        try environment.output.write(environment.palette.paint(text, .bold) + "\n")
    }

    /// Writes a head for reading: lines end as the terminal's do.
    private func writeBlock(head: [UInt8]) throws(Failure) {
        try writeText(withSecrets ? head : HeadRedaction.redact(head: head))
    }

    private func writeReadable(_ direction: Direction) throws {
        let body = body(direction)
        var held: [UInt8] = []
        var total: Int64 = 0
        if body.size > 0 {
            try visitBody(direction) { bytes in
                total += Int64(bytes.count)
                held += bytes.prefix(max(0, Self.textLimit - held.count))
                // The size of a decoded content is only known at its end, and not worth a long wait.
                return held.count < Self.textLimit
            }
        }
        if !held.isEmpty {
            if let text = Self.printable(held, isWhole: held.count < Self.textLimit) {
                try writeText([UInt8](text.utf8))
                if held.count == Self.textLimit {
                    try writeTitle("cut", "the content has \(body.size) bytes; --part shows all")
                }
            } else {
                try environment.output.write(HexDump.render(held.prefix(Self.dumpLimit)))
                let size = isDecoded ? "decoded, \(body.size) on the wire" : "\(body.size) in all"
                try writeTitle("binary", "\(min(held.count, Self.dumpLimit)) bytes, \(size)")
            }
        }
        if !body.trailers.isEmpty {
            try writeTitle("trailers", exchange.protocolName)
            try writeText(
                withSecrets ? body.trailers : HeadRedaction.redact(trailers: body.trailers))
        }
    }

    /// Writes text that a peer sent, so that it cannot act on the terminal.
    private func writeText(_ bytes: [UInt8]) throws(Failure) {
        var lines = LineWriter(environment.output)
        var rest = bytes[...]
        if rest.last == UInt8(ascii: "\n") { rest.removeLast() }
        for line in rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let content = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            let columns = content.text.split(separator: "\t", omittingEmptySubsequences: false)
            try lines.write(
                columns.map { TerminalText.sanitized(String($0)) }.joined(separator: "\t"))
        }
        try lines.flush()
    }

    /// Visits a content in pieces, decoded if that is wanted.
    private func visitBody(
        _ direction: Direction, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        let codings = RecordedHead(head(direction)).values(named: Array("content-encoding".utf8))
            .map(\.text).joined(separator: ", ")
        let wantsDecoding = isDecoded && !codings.isEmpty && codings.lowercased() != "identity"
        let stream = wantsDecoding ? try environment.decodeContent(codings) : .identity
        var goesOn = true
        try source.body(ofExchange: exchange.id, direction) { bytes in
            goesOn = try visit(try stream.push(bytes))
            return goesOn
        }
        if goesOn, !body(direction).isTruncated { _ = try visit(try stream.finish()) }
    }

    /// The text, `nil` if it is none: no UTF-8, or with control characters.
    private static func printable(_ bytes: [UInt8], isWhole: Bool) -> String? {
        var end = bytes.count
        if !isWhole {
            // The cut may have split a character: its start and up to two more bytes are dropped.
            while end > 0, bytes[end - 1] & 0xC0 == 0x80, bytes.count - end < 3 { end -= 1 }
            if end > 0, bytes[end - 1] >= 0xC0 { end -= 1 }
        }
        let isControlled = bytes[..<end].contains { byte in
            byte < 0x20 && byte != 0x0A && byte != 0x0D && byte != 0x09 || byte == 0x7F
        }
        return isControlled ? nil : String(validating: bytes[..<end], as: UTF8.self)
    }

    /// What a person may read at a time; --part has no limit.
    private static let textLimit = 1024 * 1024
    private static let dumpLimit = 4096
}
