internal import Base

/// Who is at the other end: a registrable domain or an address, made fit to be shown.
package struct ServiceName: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    /// - Parameter host: a host as `HostName` normalised it.
    init(host: [UInt8], redaction: EvidenceRedaction) {
        guard !host.isEmpty else {
            text = "{unknown}"
            return
        }
        let labels = host.split(separator: 0x2E, omittingEmptySubsequences: false).prefix(12)
        var parts = labels.map { label -> String in
            let raw = Array(label)
            if let substitute = redaction.substitute(for: raw) { return substitute }
            return Self.isPresentable(raw) ? raw.text : "{label}"
        }
        if let substitute = redaction.substitute(for: host) { parts = [substitute] }
        text = parts.joined(separator: ".")
    }

    /// Stands for all services beyond the bound of the table.
    static let others = ServiceName(constant: "{others}")
    /// Stands for what is said of the run and of no service.
    static let run = ServiceName(constant: "{run}")

    private init(constant: String) { text = constant }

    package var description: String { text }

    private static func isPresentable(_ label: [UInt8]) -> Bool {
        let isPlain = label.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || $0 == 0x2D || $0 == 0x5F || $0 == 0x3A
        }
        return isPlain && label.count <= 40 && (label.count < 24 || Randomness.bits(of: label) < 64)
    }
}
