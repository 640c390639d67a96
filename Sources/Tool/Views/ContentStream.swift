package import Base
internal import HTTPCodecs

/// Undoes the codings that a `Content-Encoding` names. Errors: `unknown-coding`.
package typealias ContentDecoding = @Sendable (_ codings: String) throws(Failure) -> ContentStream

/// A content coding being undone, a piece at a time.
package struct ContentStream {
    /// Calls `visit` with what the next bytes decode to, in pieces, until it returns false; returns
    /// whether more is wanted and there may be more. Errors: `content-malformed`, those of `visit`.
    package let push: ([UInt8], _ visit: ([UInt8]) throws -> Bool) throws -> Bool
    /// Returns the rest. Errors: `content-malformed` if the end is missing, `content-too-large` if
    /// there is more than anybody wants of so few bytes.
    package let finish: () throws(Failure) -> [UInt8]

    package init(
        push: @escaping ([UInt8], _ visit: ([UInt8]) throws -> Bool) throws -> Bool,
        finish: @escaping () throws(Failure) -> [UInt8]
    ) {
        self.push = push
        self.finish = finish
    }

    /// Content without a coding.
    package static var identity: ContentStream {
        ContentStream { bytes, visit in
            try visit(bytes)
        } finish: { () throws(Failure) in
            []
        }
    }

    /// The same, with a check before each piece: a recorded megabyte may take a second.
    package func checked(by check: @escaping () throws -> Void) -> ContentStream {
        ContentStream { [push] bytes, visit in
            try push(bytes) { piece in
                try check()
                return try visit(piece)
            }
        } finish: { [finish] () throws(Failure) in
            try finish()
        }
    }
}

extension ContentStream {
    /// Undoes the codings that a `Content-Encoding` names.
    ///
    /// Errors: `unknown-coding`; while it runs, `content-malformed`.
    @Sendable package static func decoding(_ contentEncoding: String) throws(Failure)
        -> ContentStream
    {
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
package func decoded(_ content: [UInt8], _ contentEncoding: String, byteLimit: Int) -> [UInt8]? {
    guard let codings = ContentCoding.codings(named: [Array(contentEncoding.utf8)[...]]) else {
        return nil
    }
    let (plain, outcome) = ContentDecoder.decode(content, codings, outputLimit: byteLimit)
    if case .corrupt = outcome, plain.isEmpty { return nil }
    return plain
}
