package import Base
internal import Contents

/// Where a client's request goes: an http or https URL, taken apart.
package struct OriginLocation: Sendable, Hashable {
    package let target: OriginTarget
    /// The path with the query.
    package let path: String

    /// Reads a URL; its fragment is left out (RFC 9110 §7.1), and so are the dot segments of its path.
    ///
    /// Errors: `url-invalid`.
    package init(_ text: String) throws(Failure) {
        let bytes = [UInt8](text.utf8)
        guard bytes.count <= Self.byteLimit, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Self.invalid(text, "is not printable ASCII, or too long")
        }
        let pieces = RecordedURL(bytes)
        let scheme = pieces.scheme.map(\.asciiLowercased).text
        guard scheme == "http" || scheme == "https" else {
            throw Self.invalid(text, "begins with neither http:// nor https://")
        }
        guard pieces.userinfo.isEmpty else {
            throw Self.invalid(text, "has a user in it, who would be shown wherever it is")
        }
        let authority = pieces.authority.map(\.asciiLowercased).text
        let port = scheme == "https" ? 443 : 80
        guard let place = HostPort(authority) ?? HostPort("\(authority):\(port)"), place.port > 0
        else { throw Self.invalid(text, Self.flaw(ofAuthority: authority)) }
        target = OriginTarget(isSecure: scheme == "https", host: place.host, port: place.port)
        let path = Self.withoutDots(pieces.path)
        let query = pieces.target[pieces.path.endIndex...]
        self.path = (path.isEmpty ? "/" : path) + query.text
    }

    /// What is wrong with an authority that is no host with a port.
    private static func flaw(ofAuthority authority: String) -> String {
        guard !authority.isEmpty, !authority.hasPrefix(":") else { return "has no host" }
        guard let colon = authority.lastIndex(of: ":"),
            HostPort(authority[..<colon] + ":1") != nil
        else { return "has a host that no origin can have" }
        return "has a port that is no number from 1 to 65535"
    }

    package var url: String { target.origin + path }

    /// Whether what is for one may go to the other.
    package func isSameOrigin(as other: OriginLocation) -> Bool { target == other.target }

    /// Where a reference in a document, or in `Location`, leads from here (RFC 3986 §5.2).
    ///
    /// Errors: `url-invalid`.
    package func following(_ reference: String) throws(Failure) -> OriginLocation {
        if reference.isEmpty || reference.hasPrefix("#") { return self }
        if reference.hasPrefix("?") {
            return try OriginLocation(target.origin + path.prefix { $0 != "?" } + reference)
        }
        return try OriginLocation(
            URLReference.resolved([UInt8](reference.utf8)[...], against: [UInt8](url.utf8)).text)
    }

    /// RFC 3986 §5.2.4.
    private static func withoutDots(_ path: ArraySlice<UInt8>) -> String {
        guard path.contains(UInt8(ascii: ".")) else { return path.text }
        var kept: [ArraySlice<UInt8>] = []
        let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment.text {
            case ".":
                if isLast { kept.append([]) }
            case "..":
                if kept.count > 1 { kept.removeLast() }
                if isLast { kept.append([]) }
            default: kept.append(segment)
            }
        }
        return Array(kept.joined(separator: [UInt8(ascii: "/")])).text
    }

    /// Names the URL as one word, without its query: what reads the text must not have to guess where
    /// a secret in it ends.
    private static func invalid(_ text: String, _ reason: String) -> Failure {
        let pieces = RecordedURL([UInt8](text.utf8))
        let start = text.prefix { $0 != "?" && $0 != "#" }
        let shown = pieces.userinfo.isEmpty ? String(start.prefix(200)) : pieces.authority.text
        let word = shown.withoutUnseen.split(separator: " ", omittingEmptySubsequences: false)
            .joined(separator: "%20")
        let query = start.count < text.count ? "?…" : ""
        return Failure("url-invalid", party: .client, "the URL \(word)\(query) \(reason)")
    }

    /// In bytes: servers take no longer ones.
    package static let byteLimit = 8192
}
