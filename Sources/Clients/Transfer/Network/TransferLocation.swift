package import Base
internal import Contents
package import Origins

/// Where a request goes: an http or https URL, taken apart.
package struct TransferLocation: Sendable, Equatable {
    package let target: OriginTarget
    /// The path with the query.
    package let path: String

    /// Reads a URL; a fragment is left out (RFC 9110 §7.1).
    ///
    /// Errors: `url-invalid`.
    package init(_ text: String) throws(Failure) {
        let bytes = [UInt8](text.utf8)
        guard bytes.count <= Self.byteLimit, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Self.invalid(text, "not printable ASCII, or too long")
        }
        let pieces = RecordedURL(bytes)
        let scheme = pieces.scheme.map(\.asciiLowercased).text
        guard scheme == "http" || scheme == "https" else {
            throw Self.invalid(text, "its scheme is neither http nor https")
        }
        guard pieces.userinfo.isEmpty else {
            throw Self.invalid(text, "a user in it would be shown wherever the URL is")
        }
        let isSecure = scheme == "https"
        let authority = pieces.authority.map(\.asciiLowercased).text
        guard let place = HostPort(authority) ?? HostPort("\(authority):\(isSecure ? 443 : 80)"),
            place.port > 0
        else { throw Self.invalid(text, "it has no host") }
        target = OriginTarget(isSecure: isSecure, host: place.host, port: place.port)
        let path = Self.withoutDots(pieces.path)
        let query = pieces.target[pieces.path.endIndex...]
        self.path = (path.isEmpty ? "/" : path) + query.text
    }

    package var url: String { target.origin + path }

    /// Whether what is for one may go to the other.
    package func isSameOrigin(as other: TransferLocation) -> Bool { target == other.target }

    /// Where a Location leads from here (RFC 9110 §10.2.2).
    ///
    /// Errors: `url-invalid`.
    package func following(_ location: String) throws(Failure) -> TransferLocation {
        let reference = [UInt8](location.utf8)
        if reference.first == UInt8(ascii: "?") {
            return try TransferLocation(target.origin + path.prefix { $0 != "?" } + location)
        }
        return try TransferLocation(
            URLReference.resolved(reference[...], against: [UInt8](url.utf8)).text)
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

    private static func invalid(_ text: String, _ reason: String) -> Failure {
        let shown = RecordedURL([UInt8](text.utf8))
        let place = shown.userinfo.isEmpty ? String(text.prefix(200)) : shown.authority.text
        return Failure("url-invalid", party: .client, "cannot use the URL \(place): \(reason)")
    }

    /// In bytes: servers take no longer ones.
    private static let byteLimit = 8192
}
