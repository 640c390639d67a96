/// Why a TLS session cannot go on.
package struct TLSFailure: Error, Sendable, Equatable {
    package enum Reason: Sendable, Equatable {
        /// The peer sent a fatal alert.
        case alertReceived(TLSAlert)
        /// What the peer sent broke the protocol, or had no parameters in common with us.
        case protocolError
        /// The peer sent too much that costs time and brings nothing.
        case flood
        /// The peer ended the connection in the middle of the handshake.
        case peerClosed
        /// The peer reset the connection in the middle of the handshake, or after it for lack of a
        /// certificate of ours.
        case peerReset
        /// The peer was silent for too long.
        case timedOut
        /// This side closed.
        case closed
    }

    package let reason: Reason
    /// OpenSSL's words, in lower case.
    package let detail: String
    /// The first bytes of a peer that did not speak TLS, a few dozen at the most; else empty.
    package let foreign: [UInt8]
    /// Whether the peer had asked for a certificate of ours, which we do not have.
    package let wantsCertificate: Bool
    /// Whether a record is not as it was sent: a bit that changed on the way refuses nothing.
    package let isDamage: Bool

    package init(
        _ reason: Reason, _ detail: String, foreign: [UInt8] = [], wantsCertificate: Bool = false,
        isDamage: Bool = false
    ) {
        self.reason = reason
        self.detail = detail
        self.foreign = foreign
        self.wantsCertificate = wantsCertificate
        self.isDamage = isDamage
    }

    /// Whether it ended because we have no certificate to show: servers say so with
    /// `certificate_required`, in TLS 1.2 with whatever is near (RFC 8446 §4.4.2.4, RFC 5246
    /// §7.4.6).
    package var demandsCertificate: Bool {
        guard case .alertReceived(let alert) = reason else { return false }
        return alert.code == TLSAlert.certificateRequired
            || wantsCertificate && (alert.refusesCertificate || [40, 41].contains(alert.code))
    }

    /// Whether another try would fail in the same way: this side refused what it was shown, or the peer
    /// said that the two have nothing in common. A peer that breaks off, or has an error of its own, may
    /// do better in a while.
    package var isLasting: Bool {
        switch reason {
        case .alertReceived(let alert): alert.refusesCertificate || alert.refusesParameters
        case .protocolError: !isDamage
        case .flood, .peerClosed, .peerReset, .timedOut, .closed: false
        }
    }
}

/// A TLS alert (RFC 8446 §6).
package struct TLSAlert: Sendable, Equatable {
    package let isFatal: Bool
    package let code: UInt8

    package init(isFatal: Bool, code: UInt8) {
        self.isFatal = isFatal
        self.code = code
    }

    /// The registered name, such as `unknown_ca`.
    package var name: String { Self.names[code] ?? "alert_\(code)" }

    /// The number of an alert by its name; `nil` if no alert has it.
    package static func code(named name: String) -> UInt8? {
        (UInt8.min...UInt8.max).first { TLSAlert(isFatal: false, code: $0).name == name }
    }

    static let closeNotify: UInt8 = 0
    static let badRecordMAC: UInt8 = 20
    static let certificateRequired: UInt8 = 116

    /// Whether a client says with it that it does not accept the certificate it was shown.
    package var refusesCertificate: Bool {
        switch code {
        case 42...46, 48, 49, 113: true
        default: false
        }
    }

    /// Whether it says that what was offered is not spoken, or not for this name (RFC 8446 §6.2).
    package var refusesParameters: Bool {
        switch code {
        case 40, 47, 70, 71, 86, 109, 112, 115, 116, 120: true
        default: false
        }
    }

    private static let names: [UInt8: String] = [
        0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac",
        21: "decryption_failed", 22: "record_overflow", 30: "decompression_failure",
        40: "handshake_failure", 41: "no_certificate", 42: "bad_certificate",
        43: "unsupported_certificate", 44: "certificate_revoked", 45: "certificate_expired",
        46: "certificate_unknown", 47: "illegal_parameter", 48: "unknown_ca",
        49: "access_denied", 50: "decode_error", 51: "decrypt_error",
        60: "export_restriction", 70: "protocol_version", 71: "insufficient_security",
        80: "internal_error", 86: "inappropriate_fallback", 90: "user_canceled",
        100: "no_renegotiation", 109: "missing_extension", 110: "unsupported_extension",
        111: "certificate_unobtainable", 112: "unrecognized_name",
        113: "bad_certificate_status_response", 114: "bad_certificate_hash_value",
        115: "unknown_psk_identity", 116: "certificate_required",
        120: "no_application_protocol",
    ]
}

/// The versions that may be spoken.
package struct TLSVersions: Sendable, Equatable {
    package let minimum: TLSVersion
    package let maximum: TLSVersion

    package init(_ minimum: TLSVersion, _ maximum: TLSVersion) {
        self.minimum = minimum
        self.maximum = maximum
    }

    /// TLS 1.2 and 1.3.
    package static let modern = TLSVersions(.tls12, .tls13)
}

package enum TLSVersion: UInt16, Sendable, Comparable, CaseIterable {
    case tls10 = 0x0301
    case tls11 = 0x0302
    case tls12 = 0x0303
    case tls13 = 0x0304

    package static func < (left: TLSVersion, right: TLSVersion) -> Bool {
        left.rawValue < right.rawValue
    }

    package var name: String {
        switch self {
        case .tls10: "TLSv1"
        case .tls11: "TLSv1.1"
        case .tls12: "TLSv1.2"
        case .tls13: "TLSv1.3"
        }
    }
}
