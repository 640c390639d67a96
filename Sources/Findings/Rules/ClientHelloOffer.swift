/// What a ClientHello offers of versions and suites (RFC 8446 §4.1.2), without the GREASE values
/// (RFC 8701).
struct ClientHelloOffer {
    private(set) var isSSL2 = false
    private(set) var legacyVersion: UInt16 = 0
    /// Empty if the extension is not there.
    private(set) var supportedVersions: [UInt16] = []
    private(set) var suites: [UInt16] = []

    /// Whether the client came back with a lower version than it speaks (RFC 7507).
    var isFallback: Bool { suites.contains(0x5600) }

    /// The versions that the client is known to accept, the lowest first.
    var versions: [UInt16] {
        (supportedVersions.isEmpty ? [legacyVersion] : supportedVersions).sorted()
    }

    /// - Parameter message: the handshake message without record headers, or an SSL 2.0 hello.
    /// - Returns: `nil` if it is none or cut short.
    init?(_ message: [UInt8]) {
        if message.count >= 11, message[0] & 0x80 != 0, message[2] == 1 {
            readSSL2(message)
            return
        }
        var reader = ByteCursor(message[...])
        guard reader.number(1) == 1, reader.number(3) != nil,
            let version = reader.number(2), reader.bytes(32) != nil, reader.vector(1) != nil,
            let suiteBytes = reader.vector(2), reader.vector(1) != nil
        else { return nil }
        legacyVersion = UInt16(version)
        suites = Self.numbers(suiteBytes).filter { !Self.isGrease($0) }
        guard var extensions = reader.vector(2).map({ ByteCursor($0) }) else { return }
        while let type = extensions.number(2), let content = extensions.vector(2) {
            guard type == 43 else { continue }
            var list = ByteCursor(content)
            supportedVersions = Self.numbers(list.vector(1) ?? []).filter { !Self.isGrease($0) }
        }
    }

    /// SSL 2.0's hello with which old clients ask for SSL 3.0 and TLS too (RFC 5246 appendix E.2).
    private mutating func readSSL2(_ message: [UInt8]) {
        isSSL2 = true
        legacyVersion = UInt16(message[3]) << 8 | UInt16(message[4])
        let length = Int(message[5]) << 8 | Int(message[6])
        let specs = message.dropFirst(11).prefix(length)
        var index = specs.startIndex
        while index + 2 < specs.endIndex {
            if specs[index] == 0 {
                suites.append(UInt16(specs[index + 1]) << 8 | UInt16(specs[index + 2]))
            }
            index += 3
        }
    }

    private static func numbers(_ bytes: ArraySlice<UInt8>) -> [UInt16] {
        var reader = ByteCursor(bytes)
        var result: [UInt16] = []
        while let number = reader.number(2) { result.append(UInt16(number)) }
        return result
    }

    static func isGrease(_ value: UInt16) -> Bool {
        value & 0x0F0F == 0x0A0A && value >> 8 == value & 0xFF
    }
}

/// The names of protocol versions.
enum TLSVersionName {
    static func text(_ code: UInt16) -> String {
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
