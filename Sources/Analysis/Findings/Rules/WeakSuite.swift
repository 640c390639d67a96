internal import Base

/// A suite that a client should not offer; names and numbers are those of IANA's registry.
package struct WeakSuite: Sendable, Hashable {
    package let code: UInt16
    /// As registered, such as `TLS_RSA_WITH_RC4_128_SHA`.
    package let name: String
    /// What is worst about it.
    package let suiteClass: SuiteClass

    /// Finds the suite, `nil` if it is not weak or not known.
    package init?(code: UInt16) {
        guard let entry = Self.byCode[code] else { return nil }
        self = entry
    }

    private init(_ code: UInt16, _ suiteClass: SuiteClass, _ name: String) {
        self.code = code
        self.name = "TLS_" + name
        self.suiteClass = suiteClass
    }

    /// Whether that is weak about it, be something else worse or not.
    package func has(_ weakness: SuiteClass) -> Bool {
        if suiteClass == weakness { return true }
        let words = name.split(separator: "_")
        return switch weakness {
        case .cbcSHA1: name.hasSuffix("_CBC_SHA")
        case .staticRSA: words[1] == "RSA" && words[2] != "PSK"
        case .tripleDES: words.contains("3DES")
        case .rc4: words.contains("RC4")
        case .md5: words.last == "MD5"
        case .des: words.contains("DES") || words.contains("DES40")
        case .export: words.contains("EXPORT")
        case .anonymous: words.contains("anon")
        case .null: words.contains("NULL")
        }
    }

    private static let byCode = Dictionary(
        uniqueKeysWithValues: table.map { ($0.code, $0) })

    private static let table: [WeakSuite] = SuiteClass.allCases.flatMap { suiteClass in
        suites(of: suiteClass).map { WeakSuite($0, suiteClass, $1) }
    }

    private static func suites(of suiteClass: SuiteClass) -> [(UInt16, String)] {
        switch suiteClass {
        case .cbcSHA1: cbcSHA1
        case .staticRSA: staticRSA
        case .tripleDES: tripleDES
        case .rc4: rc4
        case .md5: md5
        case .des: des
        case .export: export
        case .anonymous: anonymous
        case .null: null
        }
    }

    private static let cbcSHA1: [(UInt16, String)] = [
        (0x0032, "DHE_DSS_WITH_AES_128_CBC_SHA"),
        (0x0033, "DHE_RSA_WITH_AES_128_CBC_SHA"),
        (0x0038, "DHE_DSS_WITH_AES_256_CBC_SHA"),
        (0x0039, "DHE_RSA_WITH_AES_256_CBC_SHA"),
        (0x0044, "DHE_DSS_WITH_CAMELLIA_128_CBC_SHA"),
        (0x0045, "DHE_RSA_WITH_CAMELLIA_128_CBC_SHA"),
        (0x0087, "DHE_DSS_WITH_CAMELLIA_256_CBC_SHA"),
        (0x0088, "DHE_RSA_WITH_CAMELLIA_256_CBC_SHA"),
        (0x0099, "DHE_DSS_WITH_SEED_CBC_SHA"),
        (0x009A, "DHE_RSA_WITH_SEED_CBC_SHA"),
        (0xC004, "ECDH_ECDSA_WITH_AES_128_CBC_SHA"),
        (0xC005, "ECDH_ECDSA_WITH_AES_256_CBC_SHA"),
        (0xC009, "ECDHE_ECDSA_WITH_AES_128_CBC_SHA"),
        (0xC00A, "ECDHE_ECDSA_WITH_AES_256_CBC_SHA"),
        (0xC00E, "ECDH_RSA_WITH_AES_128_CBC_SHA"),
        (0xC00F, "ECDH_RSA_WITH_AES_256_CBC_SHA"),
        (0xC013, "ECDHE_RSA_WITH_AES_128_CBC_SHA"),
        (0xC014, "ECDHE_RSA_WITH_AES_256_CBC_SHA"),
    ]

    private static let staticRSA: [(UInt16, String)] = [
        (0x0007, "RSA_WITH_IDEA_CBC_SHA"),
        (0x002F, "RSA_WITH_AES_128_CBC_SHA"),
        (0x0035, "RSA_WITH_AES_256_CBC_SHA"),
        (0x003C, "RSA_WITH_AES_128_CBC_SHA256"),
        (0x003D, "RSA_WITH_AES_256_CBC_SHA256"),
        (0x0041, "RSA_WITH_CAMELLIA_128_CBC_SHA"),
        (0x0084, "RSA_WITH_CAMELLIA_256_CBC_SHA"),
        (0x0096, "RSA_WITH_SEED_CBC_SHA"),
        (0x009C, "RSA_WITH_AES_128_GCM_SHA256"),
        (0x009D, "RSA_WITH_AES_256_GCM_SHA384"),
        (0x00BA, "RSA_WITH_CAMELLIA_128_CBC_SHA256"),
        (0x00C0, "RSA_WITH_CAMELLIA_256_CBC_SHA256"),
        (0xC09C, "RSA_WITH_AES_128_CCM"),
        (0xC09D, "RSA_WITH_AES_256_CCM"),
        (0xC0A0, "RSA_WITH_AES_128_CCM_8"),
        (0xC0A1, "RSA_WITH_AES_256_CCM_8"),
    ]

    private static let tripleDES: [(UInt16, String)] = [
        (0x000A, "RSA_WITH_3DES_EDE_CBC_SHA"),
        (0x000D, "DH_DSS_WITH_3DES_EDE_CBC_SHA"),
        (0x0010, "DH_RSA_WITH_3DES_EDE_CBC_SHA"),
        (0x0013, "DHE_DSS_WITH_3DES_EDE_CBC_SHA"),
        (0x0016, "DHE_RSA_WITH_3DES_EDE_CBC_SHA"),
        (0x001F, "KRB5_WITH_3DES_EDE_CBC_SHA"),
        (0x008B, "PSK_WITH_3DES_EDE_CBC_SHA"),
        (0x008F, "DHE_PSK_WITH_3DES_EDE_CBC_SHA"),
        (0x0093, "RSA_PSK_WITH_3DES_EDE_CBC_SHA"),
        (0xC003, "ECDH_ECDSA_WITH_3DES_EDE_CBC_SHA"),
        (0xC008, "ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA"),
        (0xC00D, "ECDH_RSA_WITH_3DES_EDE_CBC_SHA"),
        (0xC012, "ECDHE_RSA_WITH_3DES_EDE_CBC_SHA"),
        (0xC01A, "SRP_SHA_WITH_3DES_EDE_CBC_SHA"),
        (0xC01B, "SRP_SHA_RSA_WITH_3DES_EDE_CBC_SHA"),
        (0xC01C, "SRP_SHA_DSS_WITH_3DES_EDE_CBC_SHA"),
        (0xC034, "ECDHE_PSK_WITH_3DES_EDE_CBC_SHA"),
    ]

    private static let rc4: [(UInt16, String)] = [
        (0x0005, "RSA_WITH_RC4_128_SHA"),
        (0x0020, "KRB5_WITH_RC4_128_SHA"),
        (0x008A, "PSK_WITH_RC4_128_SHA"),
        (0x008E, "DHE_PSK_WITH_RC4_128_SHA"),
        (0x0092, "RSA_PSK_WITH_RC4_128_SHA"),
        (0xC002, "ECDH_ECDSA_WITH_RC4_128_SHA"),
        (0xC007, "ECDHE_ECDSA_WITH_RC4_128_SHA"),
        (0xC00C, "ECDH_RSA_WITH_RC4_128_SHA"),
        (0xC011, "ECDHE_RSA_WITH_RC4_128_SHA"),
        (0xC033, "ECDHE_PSK_WITH_RC4_128_SHA"),
    ]

    private static let md5: [(UInt16, String)] = [
        (0x0004, "RSA_WITH_RC4_128_MD5"),
        (0x0024, "KRB5_WITH_RC4_128_MD5"),
        (0x0023, "KRB5_WITH_3DES_EDE_CBC_MD5"),
        (0x0025, "KRB5_WITH_IDEA_CBC_MD5"),
    ]

    private static let des: [(UInt16, String)] = [
        (0x0009, "RSA_WITH_DES_CBC_SHA"),
        (0x000C, "DH_DSS_WITH_DES_CBC_SHA"),
        (0x000F, "DH_RSA_WITH_DES_CBC_SHA"),
        (0x0012, "DHE_DSS_WITH_DES_CBC_SHA"),
        (0x0015, "DHE_RSA_WITH_DES_CBC_SHA"),
        (0x001E, "KRB5_WITH_DES_CBC_SHA"),
        (0x0022, "KRB5_WITH_DES_CBC_MD5"),
    ]

    private static let export: [(UInt16, String)] = [
        (0x0003, "RSA_EXPORT_WITH_RC4_40_MD5"),
        (0x0006, "RSA_EXPORT_WITH_RC2_CBC_40_MD5"),
        (0x0008, "RSA_EXPORT_WITH_DES40_CBC_SHA"),
        (0x000B, "DH_DSS_EXPORT_WITH_DES40_CBC_SHA"),
        (0x000E, "DH_RSA_EXPORT_WITH_DES40_CBC_SHA"),
        (0x0011, "DHE_DSS_EXPORT_WITH_DES40_CBC_SHA"),
        (0x0014, "DHE_RSA_EXPORT_WITH_DES40_CBC_SHA"),
        (0x0017, "DH_anon_EXPORT_WITH_RC4_40_MD5"),
        (0x0019, "DH_anon_EXPORT_WITH_DES40_CBC_SHA"),
        (0x0026, "KRB5_EXPORT_WITH_DES_CBC_40_SHA"),
        (0x0027, "KRB5_EXPORT_WITH_RC2_CBC_40_SHA"),
        (0x0028, "KRB5_EXPORT_WITH_RC4_40_SHA"),
        (0x0029, "KRB5_EXPORT_WITH_DES_CBC_40_MD5"),
        (0x002A, "KRB5_EXPORT_WITH_RC2_CBC_40_MD5"),
        (0x002B, "KRB5_EXPORT_WITH_RC4_40_MD5"),
    ]

    private static let anonymous: [(UInt16, String)] = [
        (0x0018, "DH_anon_WITH_RC4_128_MD5"),
        (0x001A, "DH_anon_WITH_DES_CBC_SHA"),
        (0x001B, "DH_anon_WITH_3DES_EDE_CBC_SHA"),
        (0x0034, "DH_anon_WITH_AES_128_CBC_SHA"),
        (0x003A, "DH_anon_WITH_AES_256_CBC_SHA"),
        (0x0046, "DH_anon_WITH_CAMELLIA_128_CBC_SHA"),
        (0x0089, "DH_anon_WITH_CAMELLIA_256_CBC_SHA"),
        (0x006C, "DH_anon_WITH_AES_128_CBC_SHA256"),
        (0x006D, "DH_anon_WITH_AES_256_CBC_SHA256"),
        (0x009B, "DH_anon_WITH_SEED_CBC_SHA"),
        (0x00A6, "DH_anon_WITH_AES_128_GCM_SHA256"),
        (0x00A7, "DH_anon_WITH_AES_256_GCM_SHA384"),
        (0x00BF, "DH_anon_WITH_CAMELLIA_128_CBC_SHA256"),
        (0x00C5, "DH_anon_WITH_CAMELLIA_256_CBC_SHA256"),
        (0xC016, "ECDH_anon_WITH_RC4_128_SHA"),
        (0xC017, "ECDH_anon_WITH_3DES_EDE_CBC_SHA"),
        (0xC018, "ECDH_anon_WITH_AES_128_CBC_SHA"),
        (0xC019, "ECDH_anon_WITH_AES_256_CBC_SHA"),
    ]

    private static let null: [(UInt16, String)] = [
        (0x0000, "NULL_WITH_NULL_NULL"),
        (0x0001, "RSA_WITH_NULL_MD5"),
        (0x0002, "RSA_WITH_NULL_SHA"),
        (0x003B, "RSA_WITH_NULL_SHA256"),
        (0x002C, "PSK_WITH_NULL_SHA"),
        (0x002D, "DHE_PSK_WITH_NULL_SHA"),
        (0x002E, "RSA_PSK_WITH_NULL_SHA"),
        (0x00B0, "PSK_WITH_NULL_SHA256"),
        (0x00B1, "PSK_WITH_NULL_SHA384"),
        (0x00B4, "DHE_PSK_WITH_NULL_SHA256"),
        (0x00B5, "DHE_PSK_WITH_NULL_SHA384"),
        (0x00B8, "RSA_PSK_WITH_NULL_SHA256"),
        (0x00B9, "RSA_PSK_WITH_NULL_SHA384"),
        (0xC001, "ECDH_ECDSA_WITH_NULL_SHA"),
        (0xC006, "ECDHE_ECDSA_WITH_NULL_SHA"),
        (0xC00B, "ECDH_RSA_WITH_NULL_SHA"),
        (0xC010, "ECDHE_RSA_WITH_NULL_SHA"),
        (0xC039, "ECDHE_PSK_WITH_NULL_SHA"),
        (0xC03A, "ECDHE_PSK_WITH_NULL_SHA256"),
        (0xC03B, "ECDHE_PSK_WITH_NULL_SHA384"),
        (0xC0B4, "SHA256_SHA256"),
        (0xC0B5, "SHA384_SHA384"),
        (0xC015, "ECDH_anon_WITH_NULL_SHA"),
    ]
}

/// What is weak about a suite, the mildest first.
package enum SuiteClass: Int, Sendable, CaseIterable, Comparable {
    case cbcSHA1
    case staticRSA
    case tripleDES
    case rc4
    case md5
    case des
    case export
    case anonymous
    case null

    package static func < (left: SuiteClass, right: SuiteClass) -> Bool {
        left.rawValue < right.rawValue
    }

    var severity: Severity {
        switch self {
        case .cbcSHA1: .info
        case .staticRSA: .low
        case .tripleDES, .rc4: .medium
        case .md5, .des, .export, .anonymous, .null: .high
        }
    }

    var text: String {
        switch self {
        case .cbcSHA1: "CBC with SHA-1"
        case .staticRSA: "static RSA"
        case .tripleDES: "3DES"
        case .rc4: "RC4"
        case .md5: "MD5"
        case .des: "DES"
        case .export: "export"
        case .anonymous: "anonymous"
        case .null: "unencrypted"
        }
    }
}
