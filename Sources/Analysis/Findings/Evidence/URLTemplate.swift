internal import Base
package import Traffic

/// Where something was seen: host and path, with what varies or must not be shown left out.
package struct URLTemplate: Sendable, Hashable, CustomStringConvertible {
    package let scheme: ExchangeRecord.Scheme
    package let host: ServiceName
    /// `nil` for the scheme's own, one that is not known, and if it was seen at several.
    package internal(set) var port: UInt16?
    /// Begins with `/`; `/..` stands for the whole service.
    package let path: String
    /// Where it was seen if that is no HTTP; scheme and path tell nothing then.
    package internal(set) var dialogue: DialoguePlace?

    /// - Parameters:
    ///   - port: 0 if it is not known.
    ///   - path: the path as it was sent, `nil` for the whole service.
    init(
        scheme: ExchangeRecord.Scheme, host: [UInt8], port: UInt16, path: [UInt8]?,
        redaction: EvidenceRedaction
    ) {
        self.port = port == 0 || port == scheme.port ? nil : port
        self.scheme = scheme
        self.host = ServiceName(host: host, redaction: redaction)
        self.path = path.map { Self.template(of: $0, redaction: redaction) } ?? Self.wholeService
    }

    init(dialogue: DialoguePlace, host: [UInt8], redaction: EvidenceRedaction) {
        self.init(
            scheme: dialogue.isSecured ? .https : .http,
            host: ServiceName(host: host, redaction: redaction))
        self.dialogue = dialogue
    }

    /// Stands for the whole run.
    static let run = URLTemplate(scheme: .https, host: .run)

    private init(scheme: ExchangeRecord.Scheme, host: ServiceName) {
        self.scheme = scheme
        self.host = host
        path = Self.wholeService
    }

    /// The same place without its path.
    func rolledUp(to service: ServiceName) -> URLTemplate {
        var result = URLTemplate(scheme: scheme, host: service)
        result.dialogue = dialogue
        result.port = port
        return result
    }

    /// A port that somebody chose, and that so tells one service of a host from another: what a
    /// system hands out to a listener that asks for any is another one in the next run.
    var chosenPort: UInt16? {
        guard dialogue == nil, let port, port < Self.firstFreePort else { return nil }
        return port
    }

    /// Such as `https://api.example.com/users/{id}` or `smtp://mail.example.com:587`.
    package var text: String {
        if host == .run { return "the whole run" }
        let name = HostPort.bracketed(host.text)
        guard let dialogue else {
            return "\(scheme.rawValue)://\(name)" + (port.map { ":\($0)" } ?? "") + path
        }
        return "\(dialogue.scheme)://\(name)" + (dialogue.port.map { ":\($0)" } ?? "")
    }
    package var description: String { text }

    static let wholeService = "/.."

    private static func template(of path: [UInt8], redaction: EvidenceRedaction) -> String {
        let start = Array(path.prefix(lookedLimit))
        if let substitute = redaction.substitute(for: start) {
            // Which segment holds it, or whether it spans several, is seen below.
            let segments = start.split(separator: 0x2F)
            let isInOne = segments.contains { redaction.substitute(for: Array($0)) != nil }
            if !isInOne { return "/" + substitute }
        }
        var result = ""
        let segments = path.split(separator: 0x2F, maxSplits: segmentLimit)
        for (index, segment) in segments.enumerated() {
            if index == segmentLimit { return result + wholeService }
            let raw = Array(segment.prefix(lengthLimit))
            result += "/" + Self.segment(raw, redaction: redaction)
        }
        if result.isEmpty || path.last == 0x2F { result += "/" }
        return result
    }

    private static func segment(_ raw: [UInt8], redaction: EvidenceRedaction) -> String {
        if let substitute = redaction.substitute(for: raw) { return substitute }
        let decoded = PercentCoding.decoded(raw.prefix { $0 != 0x3B })
        if decoded.isEmpty { return "{empty}" }
        if decoded.allSatisfy(\.isASCIIDigit) { return "{id}" }
        if ValueKind.isUUID(decoded) { return "{uuid}" }
        if isHex(decoded) { return "{hex}" }
        if decoded.contains(0x40) { return "{email}" }
        if decoded.count > 40 || decoded.count >= 16 && Randomness.bits(of: decoded) >= 64 {
            return "{b64}"
        }
        if !decoded.allSatisfy(isPlain) { return "{text}" }
        return SafeName.looksSecret(decoded) ? "{id}" : decoded.text
    }

    private static func isHex(_ raw: [UInt8]) -> Bool {
        guard raw.count >= 8, raw.allSatisfy({ $0.hexDigitValue != nil }) else { return false }
        return raw.count >= 16 || raw.contains(where: \.isASCIIDigit)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || [0x2D, 0x2E, 0x5F, 0x7E, 0x2A].contains(byte)
    }

    private static let segmentLimit = 8
    /// Of one segment, in bytes: of longer ones nothing is shown.
    private static let lengthLimit = 256
    /// How much of a path is searched for what spans several segments, in bytes.
    private static let lookedLimit = 4096
    /// Linux begins here (net.ipv4.ip_local_port_range), others at 49152 (RFC 6335 §6).
    private static let firstFreePort: UInt16 = 32_768
}

extension ExchangeRecord.Scheme {
    fileprivate var port: UInt16 { self == .https ? 443 : 80 }
}
