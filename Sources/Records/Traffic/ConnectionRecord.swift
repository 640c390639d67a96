package import Base

/// One connection of a client, from its first byte on: also one that was refused, failed or passed
/// through.
package struct ConnectionRecord: Sendable {
    /// Unique in its capture, rising in the order of acceptance.
    package var id: Int64
    package var openedAt: Timestamp
    package var closedAt: Timestamp?
    /// The client's address and port, such as `127.0.0.1:52114` or `[::1]:52114`.
    package var client: String
    /// The address and port that it came in at.
    package var listener: String
    package var mode: Mode
    /// The name or address of the origin that was asked for, without brackets; empty if unknown.
    package var originHost = ""
    package var originPort: UInt16 = 0
    /// The address and port that were connected to, `nil` if none was.
    package var originAddress: String?
    /// Whether the origin's connection had served another client's connection before.
    package var originReused = false
    package var clientBytes = ByteCount()
    package var originBytes = ByteCount()
    package var clientTLS: TLSRecord?
    package var originTLS: TLSRecord?
    /// What was spoken inside, such as `http/1.1`, `tls` or `unknown`; empty if no byte came.
    package var protocolName = ""
    package var exchangeCount: Int64 = 0
    /// Messages and segments that were recorded besides the exchanges.
    package var messageCount: Int64 = 0
    /// How a plain dialogue was secured in mid-stream, such as `STARTTLS` or `SSLRequest`; `nil` if
    /// it was not.
    package var upgrade: String?
    /// The program that opened the connection, where this machine could tell.
    package var process: ProcessRecord?
    /// What else was noticed, each with a stable code; in the order seen.
    package var notes: [ConnectionNote] = []
    /// The version of the proxy's policy that it was served by, 0 for the one that it began with.
    package var policyVersion: Int64 = 0
    package var outcome = Outcome.open
    /// Why it ended as it did, in words for a person; empty for the ordinary end.
    package var cause = ""
    /// Which side ended it.
    package var closedBy: Side?

    /// What `listener` says of a flow of UDP, and of packets that are neither TCP nor UDP.
    package static let datagramListener = "udp"
    package static let packetListener = "ip"

    /// Whether it is no connection but a flow of UDP.
    package var isDatagrams: Bool { listener == Self.datagramListener }

    /// Whether another tool recorded it.
    package var isImported: Bool {
        isFromPackets || has(.imported)
    }

    /// Whether it was read from packets, where one leg is all that there is.
    package var isFromPackets: Bool {
        has(.importedPackets)
    }

    /// Whether it was recorded by the tool itself, exported as packets, and imported again.
    package var isFromExport: Bool {
        has(.importedRecording)
    }

    /// How the client came in.
    package enum Mode: String, Sendable, CaseIterable {
        /// By HTTP to a proxy that it knows.
        case explicit
        /// By SOCKS to a proxy that it knows.
        case socks
        /// To the proxy as if it were the origin.
        case reverse
        /// To an origin, and led here by the system.
        case transparent
        /// From a namespace that has no other way out.
        case captured
    }

    package enum Side: String, Sendable, CaseIterable {
        case client
        case origin
        case tool
    }

    /// How it ended; the raw values are stored and are a contract.
    package enum Outcome: String, Sendable, CaseIterable {
        /// Still open.
        case open
        /// Served and closed in order.
        case completed
        /// The client refused the certificate that it was shown, in one of the four ways.
        case clientRefused = "client-refused"
        /// The TLS handshake with the client failed for another reason than the certificate.
        case clientHandshakeFailed = "client-handshake-failed"
        /// The origin could not be reached.
        case originUnreachable = "origin-unreachable"
        /// The origin's certificate did not verify, and the client was not served.
        case originUntrusted = "origin-untrusted"
        /// The TLS handshake with the origin failed.
        case originHandshakeFailed = "origin-handshake-failed"
        /// Relayed without being decrypted or understood.
        case passedThrough = "passed-through"
        /// The client broke the protocol and was answered with an error.
        case refused
        /// A side was silent for too long.
        case timedOut = "timed-out"
        /// A side broke the connection off in the middle.
        case broken
        /// Ended by the tool's shutdown.
        case cut
        /// The tool ended before the connection did.
        case lost

        /// Whether something else came of it than the client wanted, for another reason than that the
        /// tool ended.
        package var isFailure: Bool {
            switch self {
            case .open, .completed, .passedThrough, .cut, .lost: false
            case .clientRefused, .clientHandshakeFailed, .originUnreachable, .originUntrusted,
                .originHandshakeFailed, .refused, .timedOut, .broken:
                true
            }
        }
    }

    package init(
        id: Int64, openedAt: Timestamp, client: String, listener: String, mode: Mode
    ) {
        self.id = id
        self.openedAt = openedAt
        self.client = client
        self.listener = listener
        self.mode = mode
    }
}

extension ConnectionRecord {
    /// The name of the tool itself, for clients that have it as their proxy: nobody else can have it
    /// (RFC 6761 §6.2).
    package static let toolHost = "sallyport.test"

    /// Whether a client came for a page of the tool's own, and for nothing else.
    package var isForTool: Bool {
        (originHost == Self.toolHost || originHost == Self.toolHost + ".")
            && exchangeCount == 0 && messageCount == 0 && originBytes.received == 0
    }
}

/// A program on this machine.
package struct ProcessRecord: Sendable, Equatable {
    package let id: Int32
    /// The path of its executable; empty if it may not be known.
    package let executable: String
    /// Its arguments as it was started, without their values where those are secret.
    package let commandLine: [String]

    package init(id: Int32, executable: String, commandLine: [String]) {
        self.id = id
        self.executable = executable
        self.commandLine = commandLine
    }
}

/// Something about a connection that is worth a word.
package struct ConnectionNote: Sendable, Equatable {
    /// Stable, such as `http3-advertisement-removed`.
    package let code: String
    package let detail: String

    /// Those by which anything is decided; the others are for readers.
    package enum Code: String, Sendable {
        /// Another tool recorded the requests.
        case imported
        /// Another tool recorded the packets.
        case importedPackets = "imported-packets"
        /// The tool recorded it itself; it was exported as packets, and imported again.
        case importedRecording = "imported-recording"
        case packetsMissing = "packets-missing"
        /// It comes from a copy that was made without its secrets.
        case secretsMasked = "secrets-masked"
        /// The client refused our certificate so often that it was let through.
        case clientDistrusts = "client-distrusts"
        case plaintextLogin = "plaintext-login"
        /// The client told the proxy itself a password in cleartext.
        case proxyLogin = "proxy-login"
        case upgradeOffered = "upgrade-offered"
        case upgradeAsked = "upgrade-asked"
        case upgradeRefused = "upgrade-refused"
        case upgradeInjection = "upgrade-injection"
        /// Both sides agreed on an encryption that is not TLS.
        case otherEncryption = "other-encryption"
    }

    package init(_ code: Code, _ detail: String) { self.init(code.rawValue, detail) }

    package init(_ code: String, _ detail: String) {
        self.code = code
        self.detail = detail
    }
}

extension ConnectionRecord {
    /// The first note of this code, `nil` if there is none.
    package func note(_ code: ConnectionNote.Code) -> ConnectionNote? {
        notes.first { $0.code == code.rawValue }
    }

    package func has(_ code: ConnectionNote.Code) -> Bool { note(code) != nil }
}

/// Bytes on the wire of one leg, TLS records included.
package struct ByteCount: Sendable, Equatable {
    package var received: Int64 = 0
    package var sent: Int64 = 0

    package init(received: Int64 = 0, sent: Int64 = 0) {
        self.received = received
        self.sent = sent
    }
}

/// What is known of TLS on one leg.
package struct TLSRecord: Sendable {
    /// Such as `TLSv1.3`; `nil` if no version was agreed.
    package var version: String?
    /// The suite's name in OpenSSL's spelling; `nil` if none was agreed.
    package var cipher: String?
    package var alpn: String?
    package var sni: String?
    package var ja3: String?
    package var ja4: String?
    package var resumed = false
    /// The ClientHello handshake message as it came, without record headers; client leg only.
    package var clientHello: [UInt8] = []
    /// The certificates that the server of this leg presented, leaf first, in DER.
    package var chain: [[UInt8]] = []
    /// The certificates that the client of this leg presented, leaf first, in DER: the tool's own
    /// towards an origin. A handshake that was completed proves that it had the key.
    package var clientChain: [[UInt8]] = []
    /// Lines of the key log format (draft-ietf-tls-keylogfile), without line ends.
    package var keyLog: [String] = []
    /// Alerts in the order seen, the fatal ones and close_notify alike.
    package var alerts: [AlertRecord] = []
    package var handshakeCompleted = false
    /// Why the origin's chain did not verify; `nil` if it did or was not looked at.
    package var verifyError: String?

    package init() {}
}

/// A TLS alert on the wire (RFC 8446 §6).
package struct AlertRecord: Sendable, Equatable {
    /// By our peer on that leg, or by us.
    package enum Sender: String, Sendable, CaseIterable {
        case peer
        case tool
    }

    package let sender: Sender
    package let fatal: Bool
    /// The registered name, such as `unknown_ca`.
    package let name: String

    package init(sender: Sender, fatal: Bool, name: String) {
        self.sender = sender
        self.fatal = fatal
        self.name = name
    }
}
