internal import Base
internal import Contents
internal import HTTPModel
internal import Traffic

/// The attributes of a `Set-Cookie` (RFC 6265 §5.2).
struct CookieAttributes {
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false
    /// In lower case.
    private(set) var sameSite: String?
    /// In lower case, without the dot that is allowed before it.
    private(set) var domain: String?
    private(set) var path: String?
    private var maxAge: [UInt8]?
    private var expires: ArraySlice<UInt8>?

    init(_ list: some Sequence<CookiePair>) {
        for attribute in list {
            let value = attribute.value.prefix(256)
            switch attribute.name.lowercasedBytes.text {
            case "secure": isSecure = true
            case "httponly": isHTTPOnly = true
            case "samesite": sameSite = value.lowercasedBytes.text
            case "domain":
                let name = value.drop { $0 == 0x2E }.lowercasedBytes.text
                domain = name.isEmpty ? nil : name
            case "path": path = Array(value).text
            case "max-age": maxAge = Array(value)
            case "expires": expires = value
            default: break
            }
        }
    }

    /// Whether the cookie is taken back; Max-Age goes before Expires (RFC 6265 §5.3).
    func isDeletion(at time: Timestamp) -> Bool {
        if let maxAge { return maxAge.first == 0x2D || maxAge.allSatisfy { $0 == 0x30 } }
        let now = HTTPDate(time)
        // Many write dashes where the grammar has spaces (RFC 6265 §5.1.1).
        let text = expires.map { $0.map { $0 == 0x2D ? 0x20 : $0 } } ?? []
        guard let date = HTTPDate(text[...], now: now) else { return false }
        return date.seconds <= now.seconds
    }

    /// How long it is kept in seconds, `nil` if it goes with the session.
    func lifetimeSeconds(at time: Timestamp) -> Int? {
        if let maxAge {
            guard maxAge.allSatisfy(\.isASCIIDigit), !maxAge.isEmpty else { return nil }
            return maxAge.count > 10 ? Int(Int32.max) : Int(maxAge.text)
        }
        let now = HTTPDate(time)
        let text = expires.map { $0.map { $0 == 0x2D ? 0x20 : $0 } } ?? []
        return HTTPDate(text[...], now: now).map { Int($0.seconds - now.seconds) }
    }
}
