internal import Base
internal import Contents

/// Looks for secrets inside of a value whose own name is harmless.
package enum ValueRedaction {
    /// Returns the value without its secrets: a token or a key by its form, JSON inside of it, a document
    /// of GraphQL, a URL, or a list of parameters; `nil` if it holds none that is known.
    ///
    /// - Parameter depth: inside of how many other values it was found.
    package static func redact(_ value: [UInt8], depth: Int) -> [UInt8]? {
        if TokenForm.matches(value) { return redactionMark }
        if JSONTokenizer.mayBegin(value[...]) {
            guard depth < depthLimit else { return redactionMark }
            if let json = JSONRedaction.redact(value, isWhole: true, depth: depth + 1) {
                return json == value ? nil : json
            }
        }
        if let packed = packedJSON(value[...]) {
            return holdsSecret(json: packed, depth: depth) ? redactionMark : nil
        }
        let literals = LiteralRedaction.redact(value)
        if literals != value { return literals }
        // Prose may name anything.
        guard !value.contains(where: { $0 <= 0x20 }) else { return nil }
        if beginsAsURL(value) {
            let url = URLRedaction.redact(url: value, depth: depth)
            return url == value ? nil : url
        }
        let mayHoldParameters = value.contains(UInt8(ascii: "="))
        guard mayHoldParameters || value.starts(with: tokenStart) else { return nil }
        return URLRedaction.redact(query: value[...], depth: depth) == value ? nil : redactionMark
    }

    /// Whether a value is JSON, as it is or in Base64, that holds a secret.
    static func holdsSecret(packed value: ArraySlice<UInt8>, depth: Int) -> Bool {
        let isJSON = JSONTokenizer.mayBegin(value)
        guard let json = isJSON ? Array(value) : packedJSON(value) else { return false }
        return holdsSecret(json: json, depth: depth)
    }

    private static func holdsSecret(json: [UInt8], depth: Int) -> Bool {
        guard depth < depthLimit else { return true }
        let redacted = JSONRedaction.redact(json, isWhole: true, depth: depth + 1)
        return redacted != nil && redacted != json
    }

    /// What Base64 holds if that may be an object or an array of JSON; their first signs tell.
    private static func packedJSON(_ value: ArraySlice<UInt8>) -> [UInt8]? {
        guard value.first == UInt8(ascii: "e") || value.first == UInt8(ascii: "W"),
            let text = Base64.decode(value), JSONTokenizer.mayBegin(text[...])
        else { return nil }
        return text
    }

    private static func beginsAsURL(_ value: [UInt8]) -> Bool {
        let scheme = value.prefix { $0.isASCIILetter || $0.isASCIIDigit }
        return !scheme.isEmpty && value[scheme.endIndex...].starts(with: schemeEnd)
    }

    /// What is deeper is masked as a whole.
    private static let depthLimit = 3
    private static let schemeEnd = Array("://".utf8)
    private static let tokenStart = Array("eyJ".utf8)
}
