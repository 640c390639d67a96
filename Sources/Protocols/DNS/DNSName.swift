internal import Base

/// A domain name as its labels, in the case in which they came (RFC 1035 §3.1).
///
/// Two names that differ in case only are not equal here, because a response must repeat the
/// question's case: resolvers draw it at random, to tell forged answers.
package struct DNSName: Sendable, Hashable, CustomStringConvertible {
    /// Each of 1 to 63 bytes; none for the root.
    package let labels: [[UInt8]]

    /// On the wire, in bytes.
    static let lengthLimit = 255
    static let labelLimit = 63

    package static let root = DNSName(checked: [])

    /// - Parameter labels: within the limits.
    init(checked labels: [[UInt8]]) {
        self.labels = labels
    }

    /// `nil` if a label or the name is too long, or a label is empty.
    package init?(labels: [[UInt8]]) {
        let length = labels.reduce(1) { $0 + 1 + $1.count }
        guard length <= Self.lengthLimit,
            labels.allSatisfy({ (1...Self.labelLimit).contains($0.count) })
        else { return nil }
        self.labels = labels
    }

    /// Reads a host name such as `a.test` or `a.test.`; there are no escapes.
    package init?(_ text: some StringProtocol) {
        var bytes = [UInt8](text.utf8)
        if bytes.last == dot { bytes.removeLast() }
        guard !bytes.isEmpty else { return nil }
        let labels = bytes.split(separator: dot, omittingEmptySubsequences: false)
        self.init(labels: labels.map { [UInt8]($0) })
    }

    /// Without a final dot, with `\DDD` for bytes that are no printable ASCII (RFC 1035 §5.1), and
    /// `.` for the root.
    package var description: String {
        if labels.isEmpty { return "." }
        var text: [UInt8] = []
        for (index, label) in labels.enumerated() {
            if index > 0 { text.append(dot) }
            for byte in label {
                if byte > 0x20, byte < 0x7F, byte != dot, byte != backslash {
                    text.append(byte)
                } else {
                    let digits = [byte / 100, byte / 10 % 10, byte % 10]
                    text.append(backslash)
                    text += digits.map { $0 + UInt8(ascii: "0") }
                }
            }
        }
        return text.text
    }

    /// The name of a host in lower case and without a final dot.
    ///
    /// `nil` if no host is called so: a byte is neither letter, digit, hyphen nor underscore, the
    /// last label is a number, as an address has it, or it is the root.
    package var hostName: String? {
        guard let last = labels.last, !Self.isNumber(last) else { return nil }
        let isName = labels.allSatisfy { label in
            label.allSatisfy { byte in
                byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: "_")
            }
        }
        return isName ? description.lowercased() : nil
    }

    /// Whether resolvers may take the label for a part of an address: decimal, or hexadecimal.
    private static func isNumber(_ label: [UInt8]) -> Bool {
        label.allSatisfy(\.isASCIIDigit)
            || label.prefix(2).equalsIgnoringCase("0x")
                && label.dropFirst(2).allSatisfy { $0.hexDigitValue != nil }
    }

    /// Whether the last labels are these, in any case; `lowercased` must be in lower case.
    func hasSuffix(_ lowercased: [StaticString]) -> Bool {
        labels.count >= lowercased.count
            && zip(labels.suffix(lowercased.count), lowercased)
                .allSatisfy { $0.equalsIgnoringCase($1) }
    }
}

private let dot = UInt8(ascii: ".")
private let backslash = UInt8(ascii: "\\")
