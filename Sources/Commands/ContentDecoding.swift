internal import Base
internal import HTTPCodecs
internal import HTTPModel

/// The codings that a `Content-Encoding` names, in the order in which they were applied; `nil` if
/// one is unknown or there are too many.
private func codings(named text: String) -> [ContentCoding]? {
    var codings: [ContentCoding] = []
    for element in [UInt8](text.utf8).split(separator: UInt8(ascii: ",")) {
        let name = element.trimmingWhitespace
        if name.isEmpty || name.equalsIgnoringCase("identity") { continue }
        guard codings.count < ContentCoding.depthLimit, let coding = ContentCoding(name: name)
        else {
            return nil
        }
        codings.append(coding)
    }
    return codings
}

extension ContentStream {
    /// Undoes the codings that a `Content-Encoding` names.
    ///
    /// Errors: `unknown-coding`; while it runs, `content-malformed`.
    static func decoding(_ contentEncoding: String) throws(Failure) -> ContentStream {
        guard let codings = codings(named: contentEncoding) else {
            throw Failure(
                "unknown-coding", party: .tool,
                "cannot decode the content coding \(contentEncoding)",
                hint: "without --decoded, the content is shown as it was recorded")
        }
        // Who decodes wants all of it; it is written in pieces.
        let decoder = ContentDecoder(codings, outputLimit: Int.max)
        return ContentStream { bytes throws(Failure) in
            let content = decoder.decode(bytes.span)
            if case .corrupt(let coding) = decoder.stop, content.isEmpty {
                throw malformed("the content is not in its coding \(coding.rawValue)")
            }
            return content
        } finish: { () throws(Failure) in
            switch decoder.finish() {
            case .complete, .limited: return []
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
    guard let codings = codings(named: contentEncoding) else { return nil }
    let (plain, outcome) = ContentDecoder.decode(content, codings, outputLimit: byteLimit)
    if case .corrupt = outcome, plain.isEmpty { return nil }
    return plain
}
