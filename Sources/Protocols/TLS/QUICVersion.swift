internal import Base

/// A version of QUIC as a long header names it (RFC 8999 §5.1).
package struct QUICVersion: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// RFC 9000.
    package static let v1 = QUICVersion(rawValue: 1)
    /// RFC 9369.
    package static let v2 = QUICVersion(rawValue: 0x6B33_43CF)
    /// No version: the packet tells which ones a server knows (RFC 9000 §17.2.1).
    package static let negotiation = QUICVersion(rawValue: 0)

    /// Whether its Initial packets can be read.
    package var isReadable: Bool { initialSecrets != nil }

    /// Whether it is one of the versions that clients name only so that servers learn to refuse
    /// what they do not know (RFC 9000 §15).
    package var isReserved: Bool { rawValue & 0x0F0F_0F0F == 0x0A0A_0A0A }

    /// Such as `v1`, `draft-29`, `Q050` (Google's, before there was a standard) or `0xbabababa`.
    package var description: String {
        switch self {
        case .v1: return "v1"
        case .v2: return "v2"
        case .negotiation: return "negotiation"
        default: break
        }
        if rawValue >> 8 == 0xFF_0000 { return "draft-\(rawValue & 0xFF)" }
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: rawValue >> (24 - 8 * $0)) }
        let isGoogles =
            (bytes[0] == UInt8(ascii: "Q") || bytes[0] == UInt8(ascii: "T"))
            && bytes[1...].allSatisfy(\.isASCIIDigit)
        return isGoogles ? bytes.text : "0x" + bytes.hex
    }
}

extension QUICVersion {
    /// What the protection of a version's Initial packets is made of.
    struct InitialSecrets {
        let salt: [UInt8]
        /// In front of `key`, `iv` and `hp`.
        let label: String
        /// The value of a long header's two bits of type that says Initial.
        let type: UInt8
        /// The one that says Retry, the only type without a length.
        let retryType: UInt8
    }

    /// `nil` for a version whose Initial packets cannot be read.
    var initialSecrets: InitialSecrets? {
        switch self {
        case .v1: Self.secretsOfV1
        case .v2: Self.secretsOfV2
        default: nil
        }
    }

    /// RFC 9001 §5.2, RFC 9000 §17.2.
    static let secretsOfV1 = InitialSecrets(
        salt: [
            0x38, 0x76, 0x2C, 0xF7, 0xF5, 0x59, 0x34, 0xB3, 0x4D, 0x17,
            0x9A, 0xE6, 0xA4, 0xC8, 0x0C, 0xAD, 0xCC, 0xBB, 0x7F, 0x0A,
        ],
        label: "quic ", type: 0, retryType: 3)

    /// RFC 9369 §3.2, §3.3.
    static let secretsOfV2 = InitialSecrets(
        salt: [
            0x0D, 0xED, 0xE3, 0xDE, 0xF7, 0x00, 0xA6, 0xDB, 0x81, 0x93,
            0x81, 0xBE, 0x6E, 0x26, 0x9D, 0xCB, 0xF9, 0xBD, 0x2E, 0xD9,
        ],
        label: "quicv2 ", type: 1, retryType: 0)
}
