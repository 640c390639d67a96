internal import Base

/// The rule for host names in a hello.
///
/// Letters, digits, hyphens and underscores in labels of 1 to 63 bytes, at most 253 bytes in all; a
/// single final dot is dropped. An IP address is no name but no fault either, since clients that
/// were given an address as the host do send it.
enum ClientHelloServerName {
    private static let lengthLimit = 253
    private static let labelLengthLimit = 63

    /// - Returns: the name in lower case, `nil` for an IP address.
    static func read(_ bytes: [UInt8]) throws(ClientHelloViolation) -> String? {
        guard !bytes.isEmpty else { throw .badServerName(.empty) }
        if isIPv6(bytes) { return nil }
        var name = bytes.map(\.asciiLowercased)
        if name.last == dot { name.removeLast() }
        guard name.count <= lengthLimit else { throw .badServerName(.tooLong) }
        let labels = name.split(separator: dot, omittingEmptySubsequences: false)
        for label in labels {
            guard !label.isEmpty else { throw .badServerName(.emptyLabel) }
            guard label.count <= labelLengthLimit else { throw .badServerName(.labelTooLong) }
            guard label.allSatisfy(isAllowed) else { throw .badServerName(.badByte) }
        }
        return endsInANumber(labels) ? nil : name.text
    }

    private static let dot = UInt8(ascii: ".")

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: "_")
    }

    private static func isIPv6(_ bytes: [UInt8]) -> Bool {
        bytes.count <= 47 && bytes.contains(UInt8(ascii: ":"))
            && bytes.allSatisfy { byte in
                byte.hexDigitValue != nil || [UInt8](":.[]".utf8).contains(byte)
            }
    }

    /// No top-level domain is a number, and address parsers take such names for IPv4 addresses.
    private static func endsInANumber(_ labels: [ArraySlice<UInt8>]) -> Bool {
        guard let last = labels.last else { return false }
        if last.allSatisfy(\.isASCIIDigit) { return true }
        return last.starts(with: [UInt8]("0x".utf8))
            && last.dropFirst(2).allSatisfy { $0.hexDigitValue != nil }
    }
}
