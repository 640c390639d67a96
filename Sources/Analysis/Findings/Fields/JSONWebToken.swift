internal import Base
internal import Contents

/// What a JSON Web Token says of itself (RFC 7519, RFC 7515 §4); nothing of it is verified.
struct JSONWebToken {
    /// In lower case; empty if it names none.
    private(set) var algorithm = ""
    private(set) var isSigned: Bool
    /// Whether it tells where the key to check it with is to be had from.
    private(set) var namesKeySource = false
    /// In seconds since 1970.
    private(set) var issuedAt: Double?
    private(set) var expiresAt: Double?
    /// The host of who issued it.
    private(set) var issuer: HostName?
    private(set) var isRefresh = false

    /// - Returns: `nil` unless header and claims are JSON objects.
    init?(_ value: [UInt8]) {
        guard TokenForm.isJWT(value) else { return nil }
        let parts = value.split(separator: 0x2E, omittingEmptySubsequences: false)
        isSigned = !parts[2].isEmpty
        guard let header = Base64.decode(parts[0]), let claims = Base64.decode(parts[1]),
            header.first == 0x7B, claims.first == 0x7B
        else { return nil }
        let isWhole = JSONScalars.read(header) { path, _, value in
            readHeader(path.first?.text ?? "", value)
            return true
        }
        guard isWhole, !algorithm.isEmpty else { return nil }
        let hasClaims = JSONScalars.read(claims) { path, _, value in
            if path.count == 1 { readClaim(path[0].text, value) }
            return true
        }
        guard hasClaims else { return nil }
    }

    private mutating func readHeader(_ name: String, _ value: [UInt8]) {
        switch name {
        case "alg": algorithm = value.prefix(32).lowercasedBytes.text
        case "jku", "x5u", "jwk": namesKeySource = true
        case "kid":
            let text = value.prefix(8).lowercasedBytes.text
            namesKeySource = namesKeySource || text.hasPrefix("http:") || text.hasPrefix("https:")
        default: break
        }
    }

    private mutating func readClaim(_ name: String, _ value: [UInt8]) {
        switch name {
        case "iat": issuedAt = Double(value.prefix(32).text)
        case "exp": expiresAt = Double(value.prefix(32).text)
        case "iss":
            let authority = RecordedURL(value.prefix(512)).authority
            if !authority.isEmpty { issuer = HostName(authority: Array(authority)) }
        case "typ", "token_use", "token_type":
            isRefresh = isRefresh || value.prefix(16).lowercasedBytes.text.contains("refresh")
        default: break
        }
    }

    /// How long it is good for, `nil` if it does not tell.
    var lifetimeSeconds: Double? {
        guard let issuedAt, let expiresAt, expiresAt > issuedAt else { return nil }
        return expiresAt - issuedAt
    }
}
