internal import Base
internal import Contents
internal import Origins

extension OriginLocation {
    /// With a parameter of the query set.
    ///
    /// Errors: `url-invalid`.
    func setting(_ name: String, to value: String) throws(Failure) -> OriginLocation {
        let pieces = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let kept = (pieces.count > 1 ? pieces[1] : "").split(separator: "&").filter {
            !$0.hasPrefix("\(name)=")
        }
        let encoded = PercentCoding.encoded(value.utf8).text
        let query = (kept.map(String.init) + ["\(name)=\(encoded)"]).joined(separator: "&")
        return try OriginLocation("\(target.origin)\(pieces[0])?\(query)")
    }

    /// Where the items behind a cursor are; `nil` if that makes too long a URL.
    func after(_ cursor: String) -> OriginLocation? {
        do throws(Failure) {
            return try setting("after", to: cursor)
        } catch {
            return nil
        }
    }
}
