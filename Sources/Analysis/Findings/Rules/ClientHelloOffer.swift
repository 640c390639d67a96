internal import Base

/// What a ClientHello offers (RFC 8446 §4.1.2), without the GREASE values (RFC 8701); that of DTLS
/// with the versions of TLS that its own ones are (RFC 9147 §5.3).
package struct ClientHelloOffer: Sendable, Equatable {
    package private(set) var isSSL2 = false
    private(set) var legacyVersion: UInt16 = 0
    /// Empty if the extension is not there.
    private(set) var supportedVersions: [UInt16] = []
    /// In the order of the wire.
    package private(set) var suites: [UInt16] = []
    package private(set) var compressionMethods: [UInt8] = []
    /// The types of the extensions.
    package private(set) var extensions: Set<UInt16> = []
    /// Empty if the extension is not there.
    package private(set) var signatureAlgorithms: [UInt16] = []

    /// Whether the client came back with a lower version than it speaks (RFC 7507).
    package var isFallback: Bool { suites.contains(0x5600) }

    /// The versions that the client is known to accept, the lowest first.
    package var versions: [UInt16] {
        (supportedVersions.isEmpty ? [legacyVersion] : supportedVersions).sorted()
    }

    /// Of those, the versions with known attacks, the lowest first: all before TLS 1.2 (RFC 8996).
    package var oldVersions: [UInt16] {
        guard !isFallback else { return [] }
        return versions.filter { $0 < 0x0303 && ($0 >= 0x0300 || $0 == 0x0002) }
    }

    /// Whether it says which host is meant, which clients do not of an address; where the hello is
    /// encrypted, the name outside says nothing (RFC 9849 §5).
    package var namesHost: Bool { offers(.serverName) }
    package var hidesHost: Bool { offers(.encryptedHello) }
    package var speaksBeforeTLS13: Bool { versions.contains { $0 < 0x0304 } }
    package var compresses: Bool { compressionMethods.contains { $0 != 0 } }
    package var offersHeartbeat: Bool { offers(.heartbeat) }
    var namesApplications: Bool { offers(.applications) }
    /// Whether a session can be mistaken for another that ended in the same secret (RFC 7627).
    package var lacksExtendedMasterSecret: Bool {
        speaksBeforeTLS13 && !offers(.extendedMasterSecret)
    }
    /// Whether it does not bind renegotiations to what was before (RFC 5746 §3.3).
    package var lacksRenegotiationInfo: Bool {
        speaksBeforeTLS13 && !offers(.renegotiationInfo)
            && !suites.contains(Self.renegotiationSuite)
    }
    /// Whether silence about signatures stands for SHA-1 (RFC 5246 §7.4.1.4.1).
    package var lacksSignatureAlgorithms: Bool {
        versions.contains { $0 == 0x0303 } && !offers(.signatureAlgorithms)
    }

    /// The algorithms with a digest, by its number in RFC 5246 §7.4.1.4.1, which TLS 1.3 has kept
    /// for these.
    package func signatures(digest: UInt16) -> [UInt16] {
        signatureAlgorithms.filter { $0 >> 8 == digest && (1...3) ~= $0 & 0xFF }
    }

    /// Whether a server may sign with DSA: libraries that name it have no suite for it any more.
    var canUseDSA: Bool {
        signatureAlgorithms.contains { $0 & 0xFF == 2 && (1...6) ~= $0 >> 8 }
            && !Self.dsaSuites.isDisjoint(with: suites)
    }

    /// Those with DHE and authenticated encryption, SHA-2 or SHA-1.
    private static let dsaSuites: Set<UInt16> = [
        0x0013, 0x0032, 0x0038, 0x0040, 0x0044, 0x006A, 0x0087, 0x0099, 0x00A2, 0x00A3,
    ]

    /// TLS_EMPTY_RENEGOTIATION_INFO_SCSV (RFC 5746 §3.3).
    package static let renegotiationSuite: UInt16 = 0x00FF

    /// IANA, TLS ExtensionType Values.
    private enum ExtensionType: UInt16 {
        case serverName = 0
        case signatureAlgorithms = 13
        case heartbeat = 15
        case applications = 16
        case extendedMasterSecret = 23
        case encryptedHello = 0xFE0D
        case renegotiationInfo = 0xFF01
    }

    private func offers(_ type: ExtensionType) -> Bool { extensions.contains(type.rawValue) }

    /// By their numbers.
    package var weakSuites: [WeakSuite] {
        Set(suites).sorted().compactMap { WeakSuite(code: $0) }
    }

    /// - Parameter message: the handshake message without record headers, or an SSL 2.0 hello.
    /// - Returns: `nil` if it is none or cut short.
    package init?(_ message: [UInt8]) {
        if message.count >= 11, message[0] & 0x80 != 0, message[2] == 1 {
            readSSL2(message.dropFirst(2))
            return
        }
        if Self.isBareSSL2(message) {
            readSSL2(message[...])
            return
        }
        var reader = ByteCursor(message[...])
        guard reader.number(1) == 1, reader.number(3) != nil,
            let version = reader.number(2), reader.bytes(32) != nil, reader.vector(1) != nil,
            version >> 8 != 0xFE || reader.vector(1) != nil, let suiteBytes = reader.vector(2),
            let methods = reader.vector(1)
        else { return nil }
        legacyVersion = Self.version(UInt16(version))
        suites = Self.numbers(suiteBytes)
        compressionMethods = Array(methods)
        guard let list = reader.vector(2) else { return }
        readExtensions(ByteCursor(list))
    }

    private mutating func readExtensions(_ list: ByteCursor) {
        var list = list
        while let type = list.number(2), let content = list.vector(2) {
            extensions.insert(UInt16(type))
            var content = ByteCursor(content)
            switch type {
            case 13: signatureAlgorithms = Self.numbers(content.vector(2) ?? [])
            case 43:
                supportedVersions = Self.numbers(content.vector(1) ?? []).map(Self.version)
            default: break
            }
        }
    }

    /// Whether it is an SSL 2.0 hello without the two bytes of its length, as it is recorded: as a
    /// message of TLS it would have another length than it has.
    private static func isBareSSL2(_ message: [UInt8]) -> Bool {
        guard message.count >= 9, message[0] == 1, message[1] == 3 || message[1] == 0 else {
            return false
        }
        let length = Int(message[1]) << 16 | Int(message[2]) << 8 | Int(message[3])
        let parts = [3, 5, 7].map { Int(message[$0]) << 8 | Int(message[$0 + 1]) }
        return message.count != length + 4 && message.count == 9 + parts.reduce(0, +)
    }

    /// SSL 2.0's hello with which old clients ask for SSL 3.0 and TLS too (RFC 5246 appendix E.2).
    private mutating func readSSL2(_ message: ArraySlice<UInt8>) {
        isSSL2 = true
        let bytes = Array(message)
        legacyVersion = UInt16(bytes[1]) << 8 | UInt16(bytes[2])
        let length = Int(bytes[3]) << 8 | Int(bytes[4])
        let specs = bytes.dropFirst(9).prefix(length)
        var index = specs.startIndex
        while index + 2 < specs.endIndex {
            if specs[index] == 0 {
                suites.append(UInt16(specs[index + 1]) << 8 | UInt16(specs[index + 2]))
            }
            index += 3
        }
    }

    private static func version(_ code: UInt16) -> UInt16 {
        [0xFEFF: 0x0302, 0xFEFD: 0x0303, 0xFEFC: 0x0304][code] ?? code
    }

    private static func numbers(_ bytes: ArraySlice<UInt8>) -> [UInt16] {
        var reader = ByteCursor(bytes)
        var result: [UInt16] = []
        while let number = reader.number(2) { result.append(UInt16(number)) }
        return result.filter { !isGrease($0) }
    }

    private static func isGrease(_ value: UInt16) -> Bool {
        value & 0x0F0F == 0x0A0A && value >> 8 == value & 0xFF
    }
}

/// The names of protocol versions.
package enum TLSVersionName {
    package static func text(_ code: UInt16) -> String {
        switch code {
        case 0x0002: "SSL 2.0"
        case 0x0300: "SSL 3.0"
        case 0x0301: "TLS 1.0"
        case 0x0302: "TLS 1.1"
        case 0x0303: "TLS 1.2"
        case 0x0304: "TLS 1.3"
        default: "version \(code)"
        }
    }
}
