internal import Base
internal import Contents
internal import TLS

/// What a provider proves itself with: a JSON web token with `ES256` (RFC 7515, RFC 7519).
struct ProviderToken: Equatable {
    let keyID: String
    let team: String
    /// In seconds since 1970.
    let issuedAt: Int64
    private let signed: [UInt8]
    private let signature: [UInt8]

    /// - Returns: `nil` for what is no such token, whoever has signed it.
    init?(_ text: [UInt8]) {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.count <= Self.byteLimit, parts.count == 3,
            let head = Self.document(parts[0]), let claims = Self.document(parts[1]),
            let signature = Base64.decode(parts[2]),
            Self.text("alg", head)?.elementsEqual("ES256".utf8) == true,
            let keyID = Self.text("kid", head), let team = Self.text("iss", claims),
            let time = claims.member("iat", of: JSONDocument.root),
            // A client library that is in wide use sends the number as a text.
            [.number, .string].contains(claims[time].kind),
            let issuedAt = decimal(claims.key(of: time))
        else { return nil }
        self.keyID = keyID.text
        self.team = team.text
        self.issuedAt = Int64(min(issuedAt, 1 << 40))
        self.signature = signature
        signed = [UInt8](text.dropLast(parts[2].count + 1))
    }

    func isSigned(by key: PublicKey) -> Bool { key.verifies(es256: signature, of: signed) }

    /// Makes one.
    ///
    /// - Returns: `nil` if the key does not sign with `ES256`.
    static func text(keyID: String, team: String, issuedAt: Int64, key: PrivateKey) -> String? {
        let head: JSONText = ["alg": "ES256", "kid": .string(keyID)]
        let claims: JSONText = ["iss": .string(team), "iat": .integer(issuedAt)]
        let signed = "\(coded(head.line)).\(coded(claims.line))"
        guard let signature = key.es256(of: [UInt8](signed.utf8)) else { return nil }
        return "\(signed).\(coded(signature))"
    }

    /// Base64 for URLs, without padding.
    private static func coded(_ bytes: [UInt8]) -> String {
        Base64.encode(bytes).utf8.filter { $0 != UInt8(ascii: "=") }.map {
            switch $0 {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: $0
            }
        }.text
    }

    private static func document(_ part: ArraySlice<UInt8>) -> JSONDocument? {
        Base64.decode(part).flatMap { JSONDocument($0) }
    }

    private static func text(_ name: StaticString, _ document: JSONDocument) -> ArraySlice<UInt8>? {
        guard let place = document.member(name, of: JSONDocument.root),
            document[place].kind == .string
        else { return nil }
        return document.key(of: place)
    }

    private static let byteLimit = 4096
}

/// A key that provider tokens are signed with.
struct ProviderKey {
    enum Environment: String { case production, sandbox }

    let id: String
    let team: String
    let key: PublicKey
    /// The apps that it is for; any if empty.
    var topics: Set<String> = []
    /// `nil` for both.
    var environment: Environment?
}
