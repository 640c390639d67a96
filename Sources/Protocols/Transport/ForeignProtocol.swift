internal import Base

/// What a peer speaks whose first bytes are not what was expected of it.
package struct ForeignProtocol: Sendable, Equatable {
    /// Such as `SSH`; `nil` if it is not known.
    package let name: String?
    /// Whether it is one that goes over to TLS when it is asked to.
    package let knowsUpgrade: Bool
    /// The first line, or what there is of it, between backquotes; bytes in hexadecimal if they are
    /// no text.
    package let quoted: String

    /// - Parameter bytes: the first that came, in any number.
    package init(_ bytes: [UInt8]) {
        let known = Self.known.first { bytes.starts(with: $0.start.utf8) }
        var name = known?.name
        let line = bytes.prefix { $0 != 10 && $0 != 13 }.prefix(Self.lengthLimit)
        let text = line.text
        if known?.start == "220" {
            // Both greet with the same number (RFC 5321 §4.2, RFC 959 §4.2).
            name = text.uppercased().contains("SMTP") ? "SMTP" : text.contains("FTP") ? "FTP" : name
        }
        if name == nil { name = Self.packetName(bytes) }
        self.name = name
        knowsUpgrade = known?.knowsUpgrade ?? (name == "MySQL")
        let isText = !line.isEmpty && line.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x60 }
        quoted =
            isText
            ? "`\(text)`" : "`\(bytes.prefix(Self.hexLimit).hex)` (hexadecimal)"
    }

    /// For a sentence that says what was answered.
    package var text: String {
        guard let name else { return "something else: \(quoted)" }
        return "\(name): \(quoted)"
    }

    /// In characters: what still fits on a line beside the rest.
    private static let lengthLimit = 60
    private static let hexLimit = 16

    private static let known: [(start: String, name: String, knowsUpgrade: Bool)] = [
        ("HTTP/", "plain HTTP", false), ("SSH-", "SSH", false), ("220", "SMTP or FTP", true),
        ("554", "SMTP", true), ("421", "SMTP or FTP", true), ("+OK", "POP3", true),
        ("* OK", "IMAP", true), ("* BYE", "IMAP", true), ("* PREAUTH", "IMAP", true),
        ("200 ", "NNTP", true), ("201 ", "NNTP", true), ("RFB ", "VNC", false),
        ("-ERR", "Redis", false), ("-NOAUTH", "Redis", false), ("-DENIED", "Redis", false),
        ("AMQP", "AMQP", false), ("<?xml", "XML", false), ("<stream:", "XMPP", true),
        ("<html", "HTML without HTTP", false), ("<!DOCTYPE", "HTML without HTTP", false),
        ("INFO {", "NATS", true),
    ]

    /// Those that speak in packets.
    private static func packetName(_ bytes: [UInt8]) -> String? {
        // A greeting of protocol 10: three bytes of length, the number 0, and the version.
        if bytes.count >= 6, bytes[3] == 0, bytes[4] == 10, bytes[5].isASCIIDigit { return "MySQL" }
        // A frame of SETTINGS on stream 0 (RFC 9113 §6.5).
        if bytes.count >= 9, bytes[0] == 0, bytes[3] == 4, bytes[4...8].allSatisfy({ $0 == 0 }) {
            return "HTTP/2"
        }
        // A record with an alert or with a part of a handshake (RFC 8446 §5.1).
        if bytes.count >= 3, [21, 22].contains(bytes[0]), bytes[1] == 3, bytes[2] <= 4 {
            return "TLS"
        }
        return nil
    }
}
