internal import Base
internal import HTTPModel
internal import HTTPServer
internal import TLS

/// Digest access authentication for one name and password (RFC 7616).
///
/// A nonce names its generation and bears a mark by which it is recognised, so nothing is kept. A
/// request that is sent twice with the same count is taken twice.
struct DigestLogin {
    enum Protection: String {
        case authentication = "auth"
        case integrity = "auth-int"
        /// As clients of RFC 2069 do it.
        case none
    }

    enum Verdict {
        /// With the value of Authentication-Info.
        case accepted(String)
        /// With the value of WWW-Authenticate.
        case refused(String)
        /// What is signed is not this request: 400 (RFC 7616 §3.4.6).
        case otherTarget
    }

    let user: [UInt8]
    let password: [UInt8]
    var algorithm = DigestAlgorithm.md5
    /// Whether the key is made for a session: `MD5-sess`.
    var isSession = false
    var protection = Protection.authentication
    /// How many requests a nonce is good for; `nil` for any number.
    var usesLimit: UInt64?
    /// What nonces are derived from.
    let seed: UInt64

    func judge(_ request: ServerRequest, content: [UInt8]) -> Verdict {
        guard let field = request.fields.first(.authorization),
            let parameters = AuthenticationParameters(field, scheme: "digest"),
            let nonce = parameters["nonce"], let generation = generation(of: nonce)
        else { return .refused(challenge(generation: 0)) }
        guard parameters["uri"] == request.path.target else { return .otherTarget }
        let count = parameters["nc"] ?? []
        let client = parameters["cnonce"] ?? []
        guard parameters["username"] == user, parameters["realm"] == Self.realm,
            let uses = use(count, parameters, hasClientNonce: !client.isEmpty),
            let key = key(nonce: nonce, client: client)
        else { return .refused(challenge(generation: 0)) }
        let body = protection == .integrity ? [Self.colon] + hash(content) : []
        let target = Self.colon1 + request.path.target + body
        let middle = protection == .none ? nonce : joined(nonce, count, client, quality)
        let expected = hash(joined(key, middle, hash(request.method.name + target)))
        guard parameters["response"] == expected else {
            return .refused(challenge(generation: 0))
        }
        if let usesLimit, uses > usesLimit {
            return .refused(challenge(generation: generation &+ 1, isStale: true))
        }
        var proof = ""
        if protection == .authentication {
            proof =
                "rspauth=\"\(hash(joined(key, middle, hash(target))).text)\", qop=auth, "
                + "cnonce=\"\(PercentCoding.encoded(client, sparing: Self.isPlain).text)\", nc=\(count.text)"
        }
        return .accepted(proof)
    }

    private var quality: [UInt8] { [UInt8](protection.rawValue.utf8) }

    /// The count of this use of the nonce; `nil` if the parameters do not fit the protection.
    private func use(
        _ count: [UInt8], _ parameters: AuthenticationParameters, hasClientNonce: Bool
    ) -> UInt64? {
        guard protection != .none else { return parameters["qop"] == nil ? 1 : nil }
        guard parameters["qop"] == quality, hasClientNonce, count.count == 8 else { return nil }
        return UInt64(count.text, radix: 16)
    }

    private func key(nonce: [UInt8], client: [UInt8]) -> [UInt8]? {
        let key = hash(joined(user, Self.realm, password))
        guard isSession else { return key }
        return client.isEmpty ? nil : hash(joined(key, nonce, client))
    }

    private func joined(_ parts: [UInt8]...) -> [UInt8] {
        [UInt8](parts.joined(separator: [Self.colon]))
    }

    /// In hexadecimal.
    private func hash(_ bytes: [UInt8]) -> [UInt8] {
        let hash = RunningHash(algorithm)
        hash.update(bytes)
        return [UInt8](hash.finish().hex.utf8)
    }

    // MARK: The challenge

    private func challenge(generation: UInt64, isStale: Bool = false) -> String {
        let name =
            (algorithm == .md5 ? "MD5" : algorithm.rawValue.uppercased())
            + (isSession ? "-sess" : "")
        let qualities = protection == .none ? "" : ", qop=\"\(protection.rawValue)\""
        return "Digest realm=\"sallyport\", nonce=\"\(nonce(generation))\"\(qualities)"
            + ", algorithm=\(name), opaque=\"\(mark(generation, 1))\""
            + (isStale ? ", stale=true" : "")
    }

    private func nonce(_ generation: UInt64) -> String {
        "\(String(generation, radix: 16))-\(mark(generation, 0))"
    }

    private func generation(of nonce: [UInt8]) -> UInt64? {
        let digits = nonce.prefix { $0 != UInt8(ascii: "-") }
        guard digits.count <= 16, let generation = UInt64(digits.text, radix: 16),
            nonce.elementsEqual(self.nonce(generation).utf8)
        else { return nil }
        return generation
    }

    private func mark(_ generation: UInt64, _ use: UInt64) -> String {
        var state = SplitMix.mix(seed ^ generation)
        for byte in user { state = SplitMix.mix(state ^ UInt64(byte)) }
        return String(SplitMix.mix(state ^ use), radix: 16)
    }

    /// Whether a byte stands for itself between quotes (RFC 9110 §5.6.4).
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != 0x22 && byte != 0x5C
    }

    private static let realm = [UInt8]("sallyport".utf8)
    private static let colon = UInt8(ascii: ":")
    private static let colon1 = [colon]
}

extension RequestPath {
    /// The path with its query, as they came.
    var target: [UInt8] { raw + (query.map { [UInt8(ascii: "?")] + $0 } ?? []) }
}
