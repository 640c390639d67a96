internal import Base
internal import Contents

/// A name that a peer or a user chose, made fit to be shown: short, printable and no secret.
package struct SafeName: Sendable, Hashable, CustomStringConvertible {
    /// At most 64 characters of printable ASCII.
    package let text: String

    init(_ raw: [UInt8], redaction: EvidenceRedaction) {
        if Self.looksSecret(raw) || redaction.substitute(for: raw) != nil {
            text = "{key}"
        } else {
            text = Self.printable(raw)
        }
    }

    /// Joins names of a path into a JSON pointer (RFC 6901), each made safe on its own.
    init(pointer: [[UInt8]], redaction: EvidenceRedaction) {
        var result = ""
        for part in pointer {
            let name = SafeName(part, redaction: redaction).text
            guard result.utf8.count + name.utf8.count < Self.limit else {
                result += "/.."
                break
            }
            result += "/" + name.escapedForPointer
        }
        text = result
    }

    package var description: String { text }

    /// Whether a name is more likely a value: long, an address, or letters and digits mixed.
    static func looksSecret(_ raw: [UInt8]) -> Bool {
        if raw.count > limit || raw.contains(0x40) || PublishedPrefix(of: raw) != nil {
            return true
        }
        var run = TokenRun()
        for byte in raw {
            if run.isSuspect(after: byte) { return true }
        }
        return false
    }

    /// Number signs begin commands of CI runners where another or a bracket follows.
    private static func printable(_ raw: [UInt8]) -> String {
        raw.enumerated().map { index, byte in
            let next = raw.dropFirst(index + 1).first
            let isPlain =
                byte > 0x20 && byte < 0x7F && ![0x22, 0x27, 0x3C, 0x3E, 0x60].contains(byte)
                && !(byte == 0x23 && (next == 0x23 || next == 0x5B))
            return isPlain ? byte : 0x3F
        }.text
    }

    private static let limit = 60
}

/// Walks over one name and watches the run between two separators.
private struct TokenRun {
    private var length = 0
    private var digits = 0
    private var digitsInARow = 0
    private var changes = 0

    mutating func isSuspect(after byte: UInt8) -> Bool {
        guard byte.isASCIILetter || byte.isASCIIDigit || byte >= 0x80 else {
            self = TokenRun()
            return false
        }
        let wasDigit = digitsInARow > 0
        length += 1
        if byte.isASCIIDigit {
            digits += 1
            digitsInARow += 1
        } else {
            digitsInARow = 0
        }
        if length > 1, wasDigit != byte.isASCIIDigit { changes += 1 }
        return length > 28 || digitsInARow >= 6 || (length >= 10 && digits >= 3 && changes >= 3)
    }
}

extension String {
    /// `~` and `/` as RFC 6901 §3 writes them.
    fileprivate var escapedForPointer: String {
        var result = ""
        for character in self {
            switch character {
            case "~": result += "~0"
            case "/": result += "~1"
            default: result.append(character)
            }
        }
        return result
    }
}
