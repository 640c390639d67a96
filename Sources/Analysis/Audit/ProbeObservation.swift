package import Findings
package import Proxy

/// What a probe's server saw of one connection, from its first byte to its end.
package struct ProbeObservation: Sendable, Equatable {
    /// The connection's number in the capture.
    package var connection: Int64 = 0
    /// Whether the client began TLS, or whatever the probe waits for.
    package var sawOpening = false
    /// Whether it was shown what it has to judge: the certificate, or what a probe has in its stead.
    package var sentCertificate = false
    /// Whether the client went on after the certificate: its ClientKeyExchange in TLS 1.2, its
    /// Finished in TLS 1.3.
    package var sawClientFlight = false
    package var isHandshakeDone = false
    /// The fatal alert that the client sent.
    package var alert: UInt8?
    /// Whether the client said close_notify, or a warning such as user_canceled.
    package var warnings: [UInt8] = []
    /// The alert with which our end gave up, such as 40 when nothing is shared.
    package var ownAlert: UInt8?
    /// Bytes of the client's that came decrypted, or in cleartext where that is the fault.
    package var acceptedBytes = 0
    /// The beginning of them.
    package var firstBytes: [UInt8] = []
    /// Whether the server has spoken first, for protocols in which it does.
    package var hasGreeted = false
    /// Whether the client was silent until the server lost its patience.
    package var wasIdle = false
    /// Whether it lasted until the command was ended: how it ended says nothing of the client.
    package var wasCutOff = false
    /// From the end of the handshake to the end of the connection, in milliseconds.
    package var lateness: UInt64?
    package var end: ProbeEnd?
    package var version: String?
    /// What the client's first message offers, where it is asked for.
    package var offer: ClientHelloOffer?
    /// Whether the client passed by what the probe tempts it to, and went on or said farewell: it
    /// left a heartbeat unanswered, or quit where it was refused STARTTLS.
    package var hasDeclined = false
    /// Whether all that the client did here was to ask if the certificate that it was shown elsewhere
    /// is revoked, at an address that the certificate names.
    package var hasAskedForStatus = false
    /// Whether the client said in cleartext, to a server that offers TLS, what it must say in TLS only.
    package var isInClear = false
    /// What the client asked the host for in cleartext, on a connection of its own, with the port; `nil`
    /// for all else.
    package var clearRequest: String?
    /// The last connection to the host before that one on which it was shown the probe in TLS.
    package var followedConnection: Int64?
    /// What the client sent where it owes TLS, as one does that has torn it down.
    package var outsideTLS: [UInt8] = []
    /// What a probe of its own kind has proved besides, in words; `nil` for nothing.
    package var proof: String?

    package init() {}

    /// Whether TLS ended before the client had said anything in it.
    var mayBeRefusal: Bool {
        clearRequest == nil && acceptedBytes == 0 && proof == nil && !hasAskedForStatus && !wasIdle
    }

    /// Whether the client took its leave by close_notify or user_canceled (RFC 8446 §6.1).
    var hasSaidClose: Bool { warnings.contains(0) || warnings.contains(90) }
}
