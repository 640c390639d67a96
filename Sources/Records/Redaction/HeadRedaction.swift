internal import Base
internal import Contents
internal import HTTPModel

/// Takes the secrets out of recorded heads and trailers and leaves every other byte as it came.
///
/// Heads are as a peer sent them, malformed ones too, so it does not rely on their syntax: a folded
/// line belongs to its field, and so does whatever follows a secret without being a field.
package enum HeadRedaction {
    /// Redacts a request or response head; its first line holds no field.
    package static func redact(head: [UInt8]) -> [UInt8] {
        var lineEnd = head.firstIndex(of: newline) ?? head.endIndex
        if lineEnd > 0, head[lineEnd - 1] == carriageReturn { lineEnd -= 1 }
        var result = redactStartLine(head[..<lineEnd])
        result += redactFields(head[lineEnd...])
        return result
    }

    /// Redacts a trailer section.
    package static func redact(trailers: [UInt8]) -> [UInt8] {
        redactFields(trailers[...])
    }

    /// Redacts the target of a request line; a status line has nothing to hide.
    private static func redactStartLine(_ line: ArraySlice<UInt8>) -> [UInt8] {
        if line.starts(with: Array("HTTP/".utf8)) { return Array(line) }
        let method = line.prefix { $0 != space }
        guard method.endIndex < line.endIndex else { return URLRedaction.redact(line) }
        let rest = line[(method.endIndex + 1)...]
        var target = rest
        if let last = rest.lastIndex(of: space), rest[(last + 1)...].starts(with: versionStart) {
            target = rest[..<last]
        }
        return Array(method) + [space] + URLRedaction.redact(target) + line[target.endIndex...]
    }

    private static func redactFields(_ section: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var isSecret = false
        var start = section.startIndex
        while start < section.endIndex {
            let end = section[start...].firstIndex(of: newline) ?? section.endIndex
            append(section[start..<end], afterSecret: &isSecret, to: &result)
            guard end < section.endIndex else { break }
            result.append(newline)
            start = end + 1
        }
        return result
    }

    /// Appends a line without its line feed.
    ///
    /// A bare carriage return ends a line for some peers: a field behind one is looked at as well,
    /// and once a secret has begun, nothing more of the line is shown.
    private static func append(
        _ line: ArraySlice<UInt8>, afterSecret: inout Bool, to result: inout [UInt8]
    ) {
        let content = line.last == carriageReturn ? line.dropLast() : line
        let pieces = content.split(separator: carriageReturn, omittingEmptySubsequences: false)
        for (index, piece) in pieces.enumerated() {
            if index > 0 {
                guard !afterSecret else { break }
                result.append(carriageReturn)
            }
            append(field: piece, afterSecret: &afterSecret, to: &result)
        }
        if line.endIndex > content.endIndex { result.append(carriageReturn) }
    }

    private static func append(
        field line: ArraySlice<UInt8>, afterSecret: inout Bool, to result: inout [UInt8]
    ) {
        guard !line.isEmpty else { return }
        let isFolded = line.first == space || line.first == tab
        let name = line.prefix { $0 != colon }
        if isFolded && afterSecret || name.endIndex == line.endIndex {
            if afterSecret { result += line.prefix { $0 == space || $0 == tab } }
            result += afterSecret ? redactionMark[...] : line
            return
        }
        let value = line[(name.endIndex + 1)...]
        let masked = mask(value.trimmingWhitespace, of: name.trimmingWhitespace)
        afterSecret = masked != nil
        guard let masked else {
            let start = isFolded ? line.startIndex : value.startIndex
            result += line[..<start] + withoutSecretsInWords(line[start...])
            return
        }
        result += line[...name.endIndex]
        result += value.prefix { $0 == space || $0 == tab }
        result += masked
    }

    /// Redacts the words that hold a URL, with an authority or without, or a JSON Web Token,
    /// whatever the field is called.
    private static func withoutSecretsInWords(_ value: ArraySlice<UInt8>) -> [UInt8] {
        let words = value.split(separator: space, omittingEmptySubsequences: false).map { word in
            let colons = word.indices.filter { word[$0] == colon }
            let isURL =
                word.first == slash || word.contains(UInt8(ascii: "?"))
                || colons.contains { word[$0...].starts(with: [colon, slash, slash]) }
            return withoutTokens(isURL ? URLRedaction.redact(word)[...] : word)
        }
        return Array(words.joined(separator: [space]))
    }

    /// Masks JSON Web Tokens (RFC 7519 §3), also where they stand between other signs.
    private static func withoutTokens(_ word: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        for piece in word.split(omittingEmptySubsequences: false, whereSeparator: isTokenEnd) {
            if piece.startIndex > word.startIndex { result.append(word[piece.startIndex - 1]) }
            result += URLRedaction.isToken(piece) ? redactionMark[...] : piece
        }
        return result
    }

    private static func isTokenEnd(_ byte: UInt8) -> Bool {
        !(byte.isASCIILetter || byte.isASCIIDigit || tokenSigns.contains(byte))
    }

    /// The value without its secret, `nil` if it is no field that holds one.
    private static func mask(
        _ value: ArraySlice<UInt8>, of name: ArraySlice<UInt8>
    ) -> [UInt8]? {
        let lowercased = name.map(\.asciiLowercased).text
        switch lowercased {
        case "authorization", "proxy-authorization": return maskCredentials(value)
        case "cookie": return maskPairs(value, all: true)
        case "set-cookie": return maskPairs(value, all: false)
        case "sec-websocket-protocol": return maskProtocols(value)
        case "location", "content-location", "referer", "refresh", "link", "origin", "host":
            let redacted = URLRedaction.redact(value)
            return redacted == Array(value) ? nil : redacted
        default: return SecretName.isField(name) ? redactionMark : nil
        }
    }

    /// Keeps the scheme, if there is one (RFC 9110 §11.4).
    private static func maskCredentials(_ value: ArraySlice<UInt8>) -> [UInt8] {
        let scheme = value.prefix { $0 != space && $0 != tab }
        guard scheme.endIndex < value.endIndex,
            scheme.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") })
        else { return redactionMark }
        return Array(scheme) + [space] + redactionMark
    }

    /// Keeps the names of cookies; of `Set-Cookie`, the attributes too (RFC 6265 §4).
    private static func maskPairs(_ value: ArraySlice<UInt8>, all: Bool) -> [UInt8] {
        var result: [UInt8] = []
        let pairs = value.split(
            separator: UInt8(ascii: ";"), maxSplits: all ? Int.max : 1,
            omittingEmptySubsequences: false)
        for (index, pair) in pairs.enumerated() {
            if index > 0 { result.append(UInt8(ascii: ";")) }
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            if !all, index > 0 {
                result += pair
            } else if name.endIndex < pair.endIndex {
                result += name
                result.append(UInt8(ascii: "="))
                result += redactionMark
            } else if pair.trimmingWhitespace.isEmpty {
                result += pair
            } else {
                // A cookie without a name is all value.
                result += pair.prefix { $0 == space } + redactionMark
            }
        }
        return result
    }

    /// Masks tokens that travel as the name of a protocol of WebSockets, since a browser can send
    /// no other field: `base64url.bearer.authorization.k8s.io.…`, and what follows a name such as
    /// `bearer`. `nil` if there is none.
    private static func maskProtocols(_ value: ArraySlice<UInt8>) -> [UInt8]? {
        var isSecret = false
        var hasSecret = false
        let shown = value.split(separator: comma, omittingEmptySubsequences: false).map {
            piece -> [UInt8] in
            let name = piece.trimmingWhitespace
            let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            let mark = labels.dropLast().lastIndex { SecretName.isField($0) }
            defer { isSecret = SecretName.isField(name) && labels.count == 1 }
            var kept: ArraySlice<UInt8>
            if isSecret || URLRedaction.isToken(name) {
                kept = name.prefix(0)
            } else if mark != nil, let last = labels.last, last.count >= leastToken {
                kept = name[..<last.startIndex]
            } else {
                return Array(piece)
            }
            hasSecret = true
            kept = piece[..<kept.endIndex]
            return Array(kept) + redactionMark
        }
        return hasSecret ? Array(shown.joined(separator: [comma])) : nil
    }

    /// In bytes: shorter labels are names.
    private static let leastToken = 16
    private static let tokenSigns = Set("-_.".utf8)
    private static let comma = UInt8(ascii: ",")
    private static let newline = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let space = UInt8(ascii: " ")
    private static let tab = UInt8(ascii: "\t")
    private static let colon = UInt8(ascii: ":")
    private static let slash = UInt8(ascii: "/")
    private static let versionStart = Array("HTTP/".utf8)
}
