internal import Base
internal import HTTPCodecs

extension ContentStream {
    /// Undoes the codings that a `Content-Encoding` names.
    ///
    /// Errors: `unknown-coding`; while it runs, `content-malformed`.
    static func decoding(_ contentEncoding: String) throws(Failure) -> ContentStream {
        guard let codings = ContentCoding.codings(named: [Array(contentEncoding.utf8)[...]]) else {
            throw Failure(
                "unknown-coding", party: .tool,
                "cannot decode the content coding \(contentEncoding)",
                hint: "without --decoded, the content is shown as it was recorded")
        }
        let decoder = ContentDecoder(codings, limit: .recorded)
        return ContentStream { bytes, visit in
            var hasContent = false
            let goesOn = try decoder.decode(bytes.span) { piece in
                // A recorded megabyte may take a second.
                try InterruptFlag.check()
                hasContent = true
                return try visit(piece)
            }
            if case .corrupt(let coding) = decoder.stop, !hasContent {
                throw malformed("the content is not in its coding \(coding.rawValue)")
            }
            return goesOn
        } finish: { () throws(Failure) in
            switch decoder.finish() {
            case .complete: return []
            case .limited:
                throw Failure(
                    "content-too-large", party: .tool,
                    "the content unpacks to far more than was recorded; the rest is left packed",
                    hint: "without --decoded, the content is shown as it was recorded")
            case .truncated: throw malformed("the content ends before its coding does")
            case .corrupt(let coding):
                throw malformed("the content is not in its coding \(coding.rawValue) to its end")
            }
        }
    }

    private static func malformed(_ detail: String) -> Failure {
        Failure("content-malformed", party: .tool, detail)
    }
}

/// Decodes a content that is there as a whole, up to `byteLimit`; `nil` if the coding is unknown or
/// nothing of it can be decoded.
func decoded(_ content: [UInt8], _ contentEncoding: String, byteLimit: Int) -> [UInt8]? {
    guard let codings = ContentCoding.codings(named: [Array(contentEncoding.utf8)[...]]) else {
        return nil
    }
    let (plain, outcome) = ContentDecoder.decode(content, codings, outputLimit: byteLimit)
    if case .corrupt = outcome, plain.isEmpty { return nil }
    return plain
}
