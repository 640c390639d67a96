internal import Base
internal import Contents

/// What stands for a secret that is not shown; it says nothing of the length.
package let redactionMark = [UInt8]("***".utf8)

/// Takes the secrets out of URLs and request targets.
///
/// It covers userinfo, parameters of the query, the fragment and the path (`;name=value`) whose
/// names look secret, values that are JSON Web Tokens, and URLs inside of such values. It works on
/// bytes and never fails: a malformed URL is redacted as far as it can be read.
package enum URLRedaction {
    package static func redact(_ url: String) -> String {
        redact([UInt8](url.utf8)).text
    }

    package static func redact(_ url: some Collection<UInt8>) -> [UInt8] {
        redact(Array(url)[...], depth: 0)
    }

    /// Redacts a list of parameters, such as a form, which only `&` separates.
    package static func redact(query: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        appendParameters(query, separators: [ampersand], depth: 0, to: &result)
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
            appendParameters(part, separators: [ampersand, semicolon], depth: depth, to: &result)
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
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            result += redactionMark
            result += url[at..<end]
        } else if let at = misplacedAt(in: url[end...], after: authority) {
            result += redactionMark
            let host = url[at...].prefix { $0 != slash && $0 != question && $0 != hash }
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
        return rest.lastIndex(of: UInt8(ascii: "@"))
    }

    private static func appendPath(
        _ path: ArraySlice<UInt8>, depth: Int, to result: inout [UInt8]
    ) {
        for (index, segment) in pieces(of: path, at: [slash]).enumerated() {
            if index > 0 { result.append(slash) }
            let name = segment.prefix { $0 != semicolon }
            result += isToken(name) ? redactionMark[...] : name
            guard name.endIndex < segment.endIndex else { continue }
            result.append(semicolon)
            appendParameters(
                segment[(name.endIndex + 1)...], separators: [semicolon], depth: depth, to: &result)
        }
    }

    private static func appendParameters(
        _ text: ArraySlice<UInt8>, separators: [UInt8], depth: Int, to result: inout [UInt8]
    ) {
        for piece in pieces(of: text, at: separators) {
            if piece.startIndex > text.startIndex { result.append(text[piece.startIndex - 1]) }
            let name = piece.prefix { $0 != equals }
            guard name.endIndex < piece.endIndex else {
                result += holdsSecret(piece, depth: depth) ? redactionMark[...] : piece
                continue
            }
            let value = piece[(name.endIndex + 1)...]
            result += name
            result.append(equals)
            let isSecret =
                SecretName.isParameter(PercentCoding.decoded(name)[...])
                || holdsSecret(value, depth: depth)
            result += isSecret && !value.isEmpty ? redactionMark[...] : value
        }
    }

    /// Whether a value is a token, or a URL or a list of parameters that holds a secret.
    private static func holdsSecret(_ value: ArraySlice<UInt8>, depth: Int) -> Bool {
        let decoded = PercentCoding.decoded(value)[...]
        if isToken(decoded) { return true }
        guard decoded.contains(where: { nestingSigns.contains($0) }) else { return false }
        guard depth < depthLimit else { return true }
        if redact(decoded, depth: depth + 1) != Array(decoded) { return true }
        var parameters: [UInt8] = []
        appendParameters(
            decoded, separators: [ampersand, semicolon], depth: depth + 1, to: &parameters)
        return parameters != Array(decoded)
    }

    /// Whether the text is a JSON Web Token: a base64 `{"` and a dot (RFC 7519 §3).
    static func isToken(_ text: ArraySlice<UInt8>) -> Bool {
        text.starts(with: Array("eyJ".utf8)) && text.contains(UInt8(ascii: "."))
    }

    private static func pieces(
        of text: ArraySlice<UInt8>, at separators: [UInt8]
    ) -> [ArraySlice<UInt8>] {
        text.split(omittingEmptySubsequences: false) { separators.contains($0) }
    }

    /// How many URLs inside of one another are looked into; what is deeper is masked as a whole.
    private static let depthLimit = 3
    private static let slash = UInt8(ascii: "/")
    private static let question = UInt8(ascii: "?")
    private static let hash = UInt8(ascii: "#")
    private static let ampersand = UInt8(ascii: "&")
    private static let semicolon = UInt8(ascii: ";")
    private static let equals = UInt8(ascii: "=")
    private static let nestingSigns = Set("=@%".utf8)
}
