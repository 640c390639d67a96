package import Base
internal import Contents
package import Origins

/// An http or https URL, taken apart for a request.
package struct FeedLocation: Sendable, Hashable {
    package let target: OriginTarget
    /// The path with the query.
    package let path: String

    package var url: String { target.origin + path }

    /// Reads a URL; its fragment is left out (RFC 9110 §7.1).
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
        else { throw Self.invalid(text, "has no host") }
        target = OriginTarget(isSecure: scheme == "https", host: place.host, port: place.port)
        path = pieces.path.isEmpty ? "/" + pieces.target.text : pieces.target.text
    }

    /// Where a reference in a document, or in `Location`, leads from here (RFC 3986 §5.2); dot
    /// segments stay as they are.
    ///
    /// Errors: `url-invalid`.
    package func following(_ reference: String) throws(Failure) -> FeedLocation {
        if reference.hasPrefix("?") {
            return try FeedLocation(target.origin + path.prefix { $0 != "?" } + reference)
        }
        return try FeedLocation(
            URLReference.resolved([UInt8](reference.utf8)[...], against: [UInt8](url.utf8)).text)
    }

    /// With a parameter of the query set.
    func setting(_ name: String, to value: String) throws(Failure) -> FeedLocation {
        let pieces = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let kept = (pieces.count > 1 ? pieces[1] : "").split(separator: "&").filter {
            !$0.hasPrefix("\(name)=")
        }
        let encoded = PercentCoding.encoded(value.utf8).text
        let query = (kept.map(String.init) + ["\(name)=\(encoded)"]).joined(separator: "&")
        return try FeedLocation("\(target.origin)\(pieces[0])?\(query)")
    }

    /// Where the items behind a cursor are; `nil` if that makes too long a URL.
    func after(_ cursor: String) -> FeedLocation? {
        do throws(Failure) {
            return try setting("after", to: cursor)
        } catch {
            return nil
        }
    }

    private static func invalid(_ text: String, _ reason: String) -> Failure {
        let pieces = RecordedURL([UInt8](text.utf8))
        let shown = pieces.userinfo.isEmpty ? String(text.prefix(200)) : pieces.authority.text
        return Failure(
            "url-invalid", party: .client, "the URL \(shown.withoutUnseen) \(reason)")
    }

    /// In bytes: servers take no longer ones.
    static let byteLimit = 8192
}
