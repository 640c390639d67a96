package import Base
internal import Contents
package import HTTPCodecs
package import Traffic

/// One exchange with its contents, which stream through.
package struct RecordedExchange {
    package let record: ExchangeRecord
    package let source: any TrafficSource

    package init(_ record: ExchangeRecord, in source: any TrafficSource) {
        self.record = record
        self.source = source
    }

    package func head(_ direction: Direction) -> [UInt8] {
        direction == .request ? record.requestHead : record.responseHead
    }

    package func body(_ direction: Direction) -> BodyRecord {
        direction == .request ? record.requestBody : record.responseBody
    }

    /// The codings of a content, empty for none. Errors: `unknown-coding`.
    package func codings(_ direction: Direction) throws(Failure) -> [ContentCoding] {
        let head = RecordedHead(head(direction))
        if let codings = head.contentCodings { return codings }
        let names = head.values(named: "content-encoding").map(\.text).joined(separator: ", ")
        throw Failure(
            "unknown-coding", party: .tool, "cannot decode the content coding \(names)",
            hint: Self.hint)
    }

    /// Visits a content in pieces, without `codings`.
    ///
    /// Errors: `content-malformed`, `content-too-large` if more comes of it than anybody wants of so
    /// few bytes; those of `visit`.
    package func visitBody(
        _ direction: Direction, without codings: [ContentCoding],
        _ visit: ([UInt8]) throws -> Bool
    ) throws {
        let decoder = ContentDecoder(codings, limit: .recorded)
        var isWanted = true
        var hasContent = false
        try source.body(ofExchange: record.id, direction) { bytes in
            try decoder.decode(bytes.span) { piece in
                hasContent = true
                isWanted = try visit(piece)
                return isWanted
            }
        }
        guard isWanted else { return }
        if case .corrupt(let coding) = decoder.stop, !hasContent {
            throw malformed("the content is not in its coding \(coding.rawValue)")
        }
        if !body(direction).isTruncated { try check(decoder.finish()) }
    }

    private func check(_ outcome: ContentDecoder.Outcome) throws(Failure) {
        switch outcome {
        case .complete: break
        case .limited:
            throw Failure(
                "content-too-large", party: .tool,
                "the content unpacks to far more than was recorded; the rest is left packed",
                hint: Self.hint)
        case .truncated: throw malformed("the content ends before its coding does")
        case .corrupt(let coding):
            throw malformed("the content is not in its coding \(coding.rawValue) to its end")
        }
    }

    private func malformed(_ detail: String) -> Failure {
        Failure("content-malformed", party: .tool, detail)
    }

    private static let hint = "without --decoded, the content is shown as it was recorded"
}
