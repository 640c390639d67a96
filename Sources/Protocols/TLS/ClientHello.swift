internal import Base

/// What a client offered in the first message of its handshake (RFC 8446 §4.1.2), as it came.
///
/// Lists keep the order of the wire and hold reserved (GREASE) values too.
package struct ClientHello: Sendable, Equatable {
    /// How the hello was put on the wire.
    package enum Format: String, Sendable {
        /// In TLS records.
        case tls
        /// In the format of SSL 2.0 (RFC 5246 §E.2), which has no compression and no extensions.
        case ssl2
        /// In CRYPTO frames of QUIC (RFC 9001 §4).
        case quic
        /// In fragments of DTLS, of which the message is put together; with a cookie behind the
        /// session's id.
        case dtls
    }

    package internal(set) var format = Format.tls
    /// The handshake message with its header of four bytes, without record headers; with
    /// `Format.ssl2` the message without the two bytes of its length.
    package internal(set) var raw: [UInt8] = []
    /// The version field; TLS 1.3 is only ever offered in `supportedVersions`.
    package internal(set) var legacyVersion: UInt16 = 0
    /// 32 bytes; with `Format.ssl2` the challenge, of 16 to 32 bytes.
    package internal(set) var random: [UInt8] = []
    /// In bytes.
    package internal(set) var sessionIDLength = 0
    /// With `Format.ssl2` only those that later versions know: SSL 2.0 suites have three bytes.
    package internal(set) var cipherSuites: [UInt16] = []
    package internal(set) var compressionMethods: [UInt8] = []
    /// The types of the extensions.
    package internal(set) var extensions: [UInt16] = []
    /// The host name asked for, in lower case and without a final dot; `nil` if there was none or
    /// if it was an IP address, which RFC 6066 §3 forbids there but some clients send.
    package internal(set) var serverName: String?
    /// The application protocols as bytes (RFC 7301 §3.1).
    package internal(set) var protocolNames: [[UInt8]] = []
    package internal(set) var supportedVersions: [UInt16] = []
    package internal(set) var groups: [UInt16] = []
    package internal(set) var pointFormats: [UInt8] = []
    package internal(set) var signatureAlgorithms: [UInt16] = []

    /// The application protocols as text; bytes that are no UTF-8 become U+FFFD.
    package var alpn: [String] { protocolNames.map(\.text) }

    /// The highest version offered: of `supportedVersions` if that came, reserved values apart.
    package var highestVersion: UInt16 {
        let offered = supportedVersions.filter { !$0.isGREASE }
        // Those of DTLS count down.
        return (format == .dtls ? offered.min() : offered.max()) ?? legacyVersion
    }

    package func has(_ type: ExtensionType) -> Bool {
        extensions.contains(type.rawValue)
    }

    /// The extensions whose content is read (IANA, TLS ExtensionType Values).
    package enum ExtensionType: UInt16, Sendable {
        case serverName = 0
        case supportedGroups = 10
        case pointFormats = 11
        case signatureAlgorithms = 13
        case applicationProtocols = 16
        case supportedVersions = 43
    }
}

extension UInt16 {
    /// Whether it is one of the values that clients send only so that servers learn to ignore what
    /// they do not know (RFC 8701 §2).
    package var isGREASE: Bool {
        self & 0x0F0F == 0x0A0A && self >> 8 == self & 0xFF
    }
}
