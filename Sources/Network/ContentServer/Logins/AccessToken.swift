internal import Base
internal import TLS

/// A bearer token that says itself what it is good for; a mark at its end shows that it was issued
/// here.
struct AccessToken {
    enum Kind: String {
        case access
        case refresh
    }

    var kind = Kind.access
    var user: [UInt8]
    /// Words with spaces between: `read`, `write`.
    var scope: String
    /// In seconds since 1970, by the clock that the request gives.
    var expiry: Int64
    /// How many requests it is good for; 0 for any number.
    var uses: UInt64 = 0
    /// Tells it from others that are otherwise the same.
    var serial: UInt64

    func permits(_ word: String) -> Bool { scope.split(separator: " ").contains { $0 == word } }

    func text(seed: UInt64) -> String {
        let body =
            "\(kind.rawValue).\(user.hex).\(scope.utf8.map(Self.dash).text).\(expiry)"
            + ".\(uses).\(serial)"
        return "\(body).\(Self.mark(body, seed))"
    }

    /// - Returns: `nil` for what was not issued with this seed.
    init?(_ text: [UInt8], seed: UInt64) {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.count <= 1024, parts.count == 7, let kind = Kind(rawValue: parts[0].text),
            let user = bytes(fromHex: parts[1].text), let expiry = Int64(parts[3].text),
            let uses = decimal(parts[4]), let serial = decimal(parts[5]),
            parts[6].elementsEqual(
                Self.mark(text.dropLast(parts[6].count + 1).text, seed).utf8)
        else { return nil }
        let scope = parts[2].map { $0 == UInt8(ascii: "-") ? 0x20 : $0 }.text
        self.init(
            kind: kind, user: user, scope: scope, expiry: expiry, uses: uses, serial: serial)
    }

    init(
        kind: Kind = .access, user: [UInt8], scope: String, expiry: Int64, uses: UInt64 = 0,
        serial: UInt64
    ) {
        self.kind = kind
        self.user = user
        self.scope = scope
        self.expiry = expiry
        self.uses = uses
        self.serial = serial
    }

    private static func dash(_ byte: UInt8) -> UInt8 { byte == 0x20 ? UInt8(ascii: "-") : byte }

    private static func mark(_ body: String, _ seed: UInt64) -> String {
        Digests.hmacSHA256(key: [UInt8]("token \(seed)".utf8), [UInt8](body.utf8)).prefix(12).hex
    }
}
