internal import Base
internal import Contents

/// What stands for a secret that is not shown; it says nothing of the length.
package let redactionMark = [UInt8]("***".utf8)

/// Takes the secrets out of URLs and request targets.
///
/// It covers userinfo, parameters of the query, the fragment and the path (`;name=value`) whose
/// names look secret, values that are JSON Web Tokens or keys of providers, and URLs inside of such values. It works on
/// bytes and never fails: a malformed URL is redacted as far as it can be read.
package enum URLRedaction {
    package static func redact(_ url: String) -> String {
        redact([UInt8](url.utf8)).text
    }

    package static func redact(_ url: ArraySlice<UInt8>) -> [UInt8] { redact(Array(url)) }

    package static func redact(_ url: [UInt8]) -> [UInt8] {
        mayHoldSecret(url.span) ? redact(url[...], depth: 0) : url
    }

    /// Whether there is anything to look into: most paths are names alone.
    private static func mayHoldSecret(_ url: Span<UInt8>) -> Bool {
        for index in url.indices {
            switch url[index] {
            case question, hash, semicolon, at: return true
            // A token may stand in the path itself.
            case slash where index + 1 < url.count && mayBeginToken(url[index + 1]): return true
            default: break
            }
        }
        return url.count > 0 && mayBeginToken(url[0])
    }

    private static func mayBeginToken(_ byte: UInt8) -> Bool {
        byte == tokenStart.0 || PublishedPrefix.firstBytes[Int(byte)]
    }

    /// Redacts a list of parameters, such as a form, which only `&` separates.
    package static func redact(query: ArraySlice<UInt8>) -> [UInt8] {
        redact(query: query, depth: 0)
    }

    /// - Parameter depth: inside of how many other values it was found.
    static func redact(url: [UInt8], depth: Int) -> [UInt8] { redact(url[...], depth: depth) }

    static func redact(query: ArraySlice<UInt8>, depth: Int) -> [UInt8] {
        var result: [UInt8] = []
        appendParameters(query, depth: depth, to: &result) { $0 == ampersand }
        return result
    }

    private static func redact(_ url: ArraySlice<UInt8>, depth: Int) -> [UInt8] {
        var result: [UInt8] = []
        let pathStart = appendAuthority(of: url, to: &result)
        var part = url[pathStart...].prefix { $0 != question && $0 != hash }
        appendPath(part, depth: depth, to: &result)
        while part.endIndex < url.endIndex {
            result.append(url[part.endIndex])
            let rest = url[(part.endIndex + 1)...]
            part = rest.prefix { $0 != question && $0 != hash }
            appendParameters(part, depth: depth, to: &result, at: separates)
        }
        return result
    }

    /// Appends what is before the path, with userinfo masked; returns where the path starts.
    private static func appendAuthority(
        of url: ArraySlice<UInt8>, to result: inout [UInt8]
    ) -> Int {
        var start = url.startIndex
        let head = url.prefix { $0 != question && $0 != hash }
        if let colon = head.firstIndex(of: UInt8(ascii: ":")),
            head[(colon + 1)...].starts(with: [slash, slash])
        {
            start = colon + 3
        } else if head.starts(with: [slash, slash]) {
            start += 2
        } else if head.first == slash {
            return start
        }
        result += url[url.startIndex..<start]
        // A client that does not encode a slash, a question mark or a hash in its password still
        // sends it; so userinfo is looked for past them, as far as a host can follow.
        let authority = head[start...].prefix { $0 != slash }
        let end = authority.endIndex
        if let sign = authority.lastIndex(of: at) {
            result += redactionMark
            result += url[sign..<end]
        } else if let sign = misplacedAt(in: url[end...], after: authority) {
            result += redactionMark
            let host = url[sign...].prefix { $0 != slash && $0 != question && $0 != hash }
            result += host
            return host.endIndex
        } else {
            result += authority
        }
        return end
    }

    /// Where userinfo ends that holds an unencoded slash, question mark or hash: `user:pa/ss@host`.
    private static func misplacedAt(
        in rest: ArraySlice<UInt8>, after authority: ArraySlice<UInt8>
    ) -> Int? {
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")),
            authority.last != UInt8(ascii: "]"),
            !authority[(colon + 1)...].allSatisfy(\.isASCIIDigit)
        else { return nil }
        return rest.lastIndex(of: at)
    }

    private static func appendPath(
        _ path: ArraySlice<UInt8>, depth: Int, to result: inout [UInt8]
    ) {
        forEachPiece(of: path, isSlash) { segment, separator in
            if let separator { result.append(separator) }
            let name = segment.prefix { $0 != semicolon }
            result += isToken(name) ? redactionMark[...] : name
            guard name.endIndex < segment.endIndex else { return }
            result.append(semicolon)
            appendParameters(segment[(name.endIndex + 1)...], depth: depth, to: &result) {
                $0 == semicolon
            }
        }
    }

    private static func appendParameters(
        _ text: ArraySlice<UInt8>, depth: Int, to result: inout [UInt8],
        at isSeparator: (UInt8) -> Bool
    ) {
        forEachPiece(of: text, isSeparator) { piece, separator in
            if let separator { result.append(separator) }
            let name = piece.prefix { $0 != equals }
            guard name.endIndex < piece.endIndex else {
                result += holdsSecret(piece, depth: depth) ? redactionMark[...] : piece
                return
            }
            let value = piece[(name.endIndex + 1)...]
            result += name
            result.append(equals)
            let isSecret =
                SecretName.isParameter(decoded(name))
                || holdsSecret(value, depth: depth)
            result += isSecret && !value.isEmpty ? redactionMark[...] : value
        }
    }

    /// Whether a value is a token, or JSON, a URL or a list of parameters that holds a secret.
    private static func holdsSecret(_ value: ArraySlice<UInt8>, depth: Int) -> Bool {
        let decoded = decoded(value)
        if isToken(decoded) || ValueRedaction.holdsSecret(packed: decoded, depth: depth) {
            return true
        }
        guard decoded.contains(where: isNestingSign) else { return false }
        guard depth < depthLimit else { return true }
        if redact(decoded, depth: depth + 1) != Array(decoded) { return true }
        var parameters: [UInt8] = []
        appendParameters(decoded, depth: depth + 1, to: &parameters, at: separates)
        return parameters != Array(decoded)
    }

    /// Whether the text is a JSON Web Token, a base64 `{"` and a dot (RFC 7519 §3), or a provider's
    /// secret key.
    static func isToken(_ text: ArraySlice<UInt8>) -> Bool {
        guard let first = text.first, mayBeginToken(first) else { return false }
        let isJWT =
            first == tokenStart.0 && text.dropFirst().starts(with: [tokenStart.1, tokenStart.2])
            && text.contains(UInt8(ascii: "."))
        return isJWT || TokenForm.matches(Array(text))
    }

    /// Calls `visit` with each piece, empty ones too, and what parts it from the one before.
    private static func forEachPiece(
        of text: ArraySlice<UInt8>, _ isSeparator: (UInt8) -> Bool,
        _ visit: (ArraySlice<UInt8>, UInt8?) -> Void
    ) {
        var rest = text
        var separator: UInt8?
        while true {
            let piece = rest.prefix { !isSeparator($0) }
            visit(piece, separator)
            guard piece.endIndex < rest.endIndex else { return }
            separator = rest[piece.endIndex]
            rest = rest[(piece.endIndex + 1)...]
        }
    }

    private static func isSlash(_ byte: UInt8) -> Bool { byte == slash }

    private static func separates(_ byte: UInt8) -> Bool { byte == ampersand || byte == semicolon }

    /// What a value holds that may hold more than it seems to.
    private static func isNestingSign(_ byte: UInt8) -> Bool {
        byte == equals || byte == at || byte == percent
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        text.contains(percent) ? PercentCoding.decoded(text)[...] : text
    }

    /// How many URLs inside of one another are looked into; what is deeper is masked as a whole.
    private static let depthLimit = 3
    private static let slash = UInt8(ascii: "/")
    private static let question = UInt8(ascii: "?")
    private static let hash = UInt8(ascii: "#")
    private static let ampersand = UInt8(ascii: "&")
    private static let semicolon = UInt8(ascii: ";")
    private static let equals = UInt8(ascii: "=")
    private static let percent = UInt8(ascii: "%")
    private static let at = UInt8(ascii: "@")
    private static let tokenStart = (UInt8(ascii: "e"), UInt8(ascii: "y"), UInt8(ascii: "J"))
}
