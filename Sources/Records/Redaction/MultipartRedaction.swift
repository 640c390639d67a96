internal import Base
internal import Contents
internal import HTTPModel
internal import Traffic

/// Masks the secrets of a multipart content (RFC 2046 §5.1, RFC 7578): fields with secret names,
/// and what is secret inside of parts that can be looked into. Parts that are files stay.
enum MultipartRedaction {
    /// Returns `nil` if the boundary is not in the content.
    ///
    /// - Parameters:
    ///   - isForm: whether every part has to have a name; one without is masked.
    ///   - depth: inside of how many other contents it was found.
    static func redact(
        _ content: [UInt8], boundary: [UInt8], isForm: Bool, depth: Int
    ) -> [UInt8]? {
        guard let reader = MultipartReader(content, boundary: boundary) else { return nil }
        var result: [UInt8] = []
        for section in reader {
            result += content[section.delimiter]
            let bytes = content[section.range]
            // Nobody should read what is outside of the parts, so it has no name either.
            result +=
                section.isPart ? redact(part: bytes, isForm: isForm, depth: depth) : hidden(bytes)
        }
        return result
    }

    private static func redact(
        part bytes: ArraySlice<UInt8>, isForm: Bool, depth: Int
    ) -> [UInt8] {
        let part = MultipartPart(bytes)
        guard let start = part.contentStart else { return hidden(bytes) }
        let shownHead = HeadRedaction.redact(trailers: Array(bytes[..<start]))
        let lineEnd = bytes[part.content.endIndex...]
        let isSecret = part.names.contains {
            SecretName.isParameter(PercentCoding.decoded($0[...])[...])
        }
        if isSecret || isForm && part.names.isEmpty {
            return shownHead + (part.content.isEmpty ? [] : redactionMark) + lineEnd
        }
        let types = part.head.values(named: "content-type")
        return shownHead
            + shown(Array(part.content), types, isFile: part.isFile, depth: depth) + lineEnd
    }

    private static func shown(
        _ content: [UInt8], _ types: [ArraySlice<UInt8>], isFile: Bool, depth: Int
    ) -> [UInt8] {
        guard depth < depthLimit else { return redactionMark }
        switch ContentRedaction.redact(content, types: types, isWhole: true, depth: depth + 1) {
        case .understood(let redacted): return redacted
        case .malformed: return redactionMark
        case .opaque where isFile: return content
        case .opaque: return ValueRedaction.redact(content, depth: depth + 1) ?? content
        }
    }

    /// A mask for all but white space.
    private static func hidden(_ text: ArraySlice<UInt8>) -> [UInt8] {
        if text.allSatisfy({ $0 <= 0x20 }) { return Array(text) }
        return redactionMark + text[text.withoutLineEnd.endIndex...]
    }

    /// How many contents inside of one another are looked into; what is deeper is masked.
    private static let depthLimit = 3
}
