internal import TLS

/// A cipher suite whose records can be made and read here: those with an AEAD.
struct TLSSuite: Sendable, Equatable {
    /// As OpenSSL spells it.
    let name: String
    /// In the registry (IANA, TLS Cipher Suites).
    let number: UInt16
    let algorithm: AEADSession.Algorithm
    let hash: KeyHash
    let version: Version
    let exchange: KeyExchange

    enum Version: UInt16, Sendable {
        case tls12 = 0x0303
        case tls13 = 0x0304

        /// As captures spell it, such as `TLSv1.3`.
        init?(text: String) {
            switch text {
            case "TLSv1.2": self = .tls12
            case "TLSv1.3": self = .tls13
            default: return nil
            }
        }

        var text: String { self == .tls12 ? "TLSv1.2" : "TLSv1.3" }
    }

    enum KeyExchange: Sendable {
        case ecdhe
        case dhe
        case rsa
    }

    init?(name: String) {
        guard let known = Self.all.first(where: { $0.name == name }) else { return nil }
        self = known
    }

    init?(number: UInt16) {
        guard let known = Self.all.first(where: { $0.number == number }) else { return nil }
        self = known
    }

    private init(
        _ number: UInt16, _ name: String, _ algorithm: AEADSession.Algorithm, _ hash: KeyHash,
        _ version: Version = .tls12, _ exchange: KeyExchange = .ecdhe
    ) {
        self.number = number
        self.name = name
        self.algorithm = algorithm
        self.hash = hash
        self.version = version
        self.exchange = exchange
    }

    static let all = [
        TLSSuite(0x1301, "TLS_AES_128_GCM_SHA256", .aes128GCM, .sha256, .tls13),
        TLSSuite(0x1302, "TLS_AES_256_GCM_SHA384", .aes256GCM, .sha384, .tls13),
        TLSSuite(0x1303, "TLS_CHACHA20_POLY1305_SHA256", .chaCha20Poly1305, .sha256, .tls13),
        TLSSuite(0xC02B, "ECDHE-ECDSA-AES128-GCM-SHA256", .aes128GCM, .sha256),
        TLSSuite(0xC02C, "ECDHE-ECDSA-AES256-GCM-SHA384", .aes256GCM, .sha384),
        TLSSuite(0xC02F, "ECDHE-RSA-AES128-GCM-SHA256", .aes128GCM, .sha256),
        TLSSuite(0xC030, "ECDHE-RSA-AES256-GCM-SHA384", .aes256GCM, .sha384),
        TLSSuite(0xCCA8, "ECDHE-RSA-CHACHA20-POLY1305", .chaCha20Poly1305, .sha256),
        TLSSuite(0xCCA9, "ECDHE-ECDSA-CHACHA20-POLY1305", .chaCha20Poly1305, .sha256),
        TLSSuite(0xCCAA, "DHE-RSA-CHACHA20-POLY1305", .chaCha20Poly1305, .sha256, .tls12, .dhe),
        TLSSuite(0x009E, "DHE-RSA-AES128-GCM-SHA256", .aes128GCM, .sha256, .tls12, .dhe),
        TLSSuite(0x009F, "DHE-RSA-AES256-GCM-SHA384", .aes256GCM, .sha384, .tls12, .dhe),
        TLSSuite(0x009C, "AES128-GCM-SHA256", .aes128GCM, .sha256, .tls12, .rsa),
        TLSSuite(0x009D, "AES256-GCM-SHA384", .aes256GCM, .sha384, .tls12, .rsa),
    ]
}
