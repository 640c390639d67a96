internal import Base
internal import Contents
internal import TLS

/// What a file is called that a URL leads to.
enum AssetName {
    /// A name without folders, the same for the same URL and another for any other: what the URL's
    /// path ends with, as far as all file systems take it, behind half of the URL's digest:
    /// nobody finds two URLs with the same one.
    static func of(_ url: String) -> String {
        let last = RecordedURL([UInt8](url.utf8)).path.split(separator: UInt8(ascii: "/")).last
        let kept = (last ?? []).map { byte in
            byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: ".") ? byte : 0x5F
        }.suffix(64)
        let digest = Array(Digests.sha256([UInt8](url.utf8)).prefix(16)).hex
        return "\(digest)-\(Array(kept).text)"
    }
}
