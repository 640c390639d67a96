internal import Base
internal import Contents

/// Where a request went or a redirect leads, so that one can be compared with the other whatever a
/// client makes of the redirect's spelling.
struct RedirectTarget {
    let isSecure: Bool
    /// `nil` for one that clients write in another way than the redirect does.
    private let host: HostName?
    private let port: UInt16
    /// A hash of path and query.
    private let path: UInt64

    init(_ view: ExchangeView, _ redaction: EvidenceRedaction) {
        isSecure = !view.isClear
        host = view.host
        port = view.port == 0 ? (view.isClear ? 80 : 443) : view.port
        path = redaction.hash(of: Self.normalised(view.target.target))
    }

    /// Where a response leads as clients read it (RFC 3986 §5, WHATWG URL §4.4), `nil` if that is
    /// the same origin.
    init?(_ location: [UInt8], from view: ExchangeView, _ redaction: EvidenceRedaction) {
        let bytes = location.filter { ![0x09, 0x0A, 0x0D].contains($0) }.trimmed
            .prefix { $0 != 0x23 }
        var rest = bytes[...]
        var scheme = Array(rest.prefix { $0.isASCIILetter || $0.isASCIIDigit })
        if !scheme.isEmpty, rest.dropFirst(scheme.count).first == 0x3A {
            rest = rest.dropFirst(scheme.count + 1)
        } else {
            scheme = []
        }
        let isSlash = { (byte: UInt8) in byte == 0x2F || byte == 0x5C }
        let slashes = rest.prefix(while: isSlash)
        // Without a scheme, one slash begins a path; behind one, any number of them a host.
        guard scheme.isEmpty ? slashes.count > 1 : true else { return nil }
        switch scheme.lowercasedBytes.text {
        case "": isSecure = !view.isClear
        case "http": isSecure = false
        case "https": isSecure = true
        default: return nil
        }
        rest = rest[slashes.endIndex...]
        let whole = rest.prefix { !isSlash($0) && $0 != 0x3F }
        let authority = whole.lastIndex(of: 0x40).map { whole[($0 + 1)...] } ?? whole
        let named = HostPort(authority.text)?.port ?? 0
        port = named == 0 ? (isSecure ? 443 : 80) : named
        let name = HostName(authority: Array(authority))
        host = Self.isPlain(name) ? name : nil
        let query = rest[whole.endIndex...].drop { $0 != 0x3F }
        let path = rest[whole.endIndex..<query.startIndex].map { isSlash($0) ? 0x2F : $0 }
        self.path = redaction.hash(of: Self.normalised((path + query)[...]))
        let origin = RedirectTarget(view, redaction)
        let isSame = origin.host == host && (origin.port == port || isSecure && view.isClear)
        guard !isSame || origin.isSecure && !isSecure else { return nil }
    }

    /// Whether a request went where a redirect, which is this, leads.
    func isReached(by request: RedirectTarget) -> Bool {
        isSecure == request.isSecure && port == request.port && path == request.path
            && (host ?? request.host) == request.host
    }

    /// Path and query without what clients change: escapes, dots, and a path that is left out.
    private static func normalised(_ target: ArraySlice<UInt8>) -> [UInt8] {
        let path = target.prefix { $0 != 0x3F }
        var segments: [ArraySlice<UInt8>] = []
        let all = PercentCoding.decoded(path).split(
            separator: 0x2F, omittingEmptySubsequences: false)
        for (index, segment) in all.enumerated() {
            let isLast = index == all.count - 1
            if segment.elementsEqual("..".utf8) {
                if segments.count > 1 { segments.removeLast() }
                if isLast { segments.append([]) }
            } else if segment.elementsEqual(".".utf8) {
                if isLast { segments.append([]) }
            } else {
                segments.append(segment)
            }
        }
        let plain = Array(segments.joined(separator: [0x2F]))
        let query = PercentCoding.decoded(target[path.endIndex...])
        return (plain.isEmpty ? [0x2F] : plain) + query
    }

    /// Whether clients send the host as it is written: no escapes, no other script, and no number
    /// that stands for an address.
    private static func isPlain(_ host: HostName) -> Bool {
        let isName = host.bytes.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || [0x2D, 0x2E, 0x3A, 0x5F].contains($0)
        }
        let last = host.bytes.split(separator: 0x2E).last ?? []
        return isName && (host.isAddress || last.first?.isASCIIDigit != true)
    }
}
