internal import Base

/// Judges the text forms of IP addresses (RFC 3986 §3.2.2), without zones.
enum IPAddressText {
    /// Four decimal numbers to 255 without leading zeros, which some read as octal.
    static func isIPv4(_ text: ArraySlice<UInt8>) -> Bool {
        let parts = text.split(separator: 0x2E, maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return false }
        return parts.allSatisfy { part in
            guard (1...3).contains(part.count), part.allSatisfy(\.isASCIIDigit) else {
                return false
            }
            guard part.count == 1 || part.first != 0x30 else { return false }
            return part.reduce(0) { $0 * 10 + Int($1 &- 0x30) } <= 255
        }
    }

    /// Eight groups, or fewer with one `::`; the last two may be an IPv4 address.
    static func isIPv6(_ text: ArraySlice<UInt8>) -> Bool {
        guard (2...45).contains(text.count) else { return false }
        guard let gap = firstGap(text) else { return groupCount(text) == 8 }
        let left = text[..<gap]
        let right = text[(gap + 2)...]
        guard firstGap(right) == nil, !left.contains(0x2E) else { return false }
        guard let before = left.isEmpty ? 0 : groupCount(left),
            let after = right.isEmpty ? 0 : groupCount(right)
        else { return false }
        return before + after <= 7
    }

    private static func firstGap(_ text: ArraySlice<UInt8>) -> Int? {
        text.indices.dropLast().first { text[$0] == 0x3A && text[$0 + 1] == 0x3A }
    }

    /// How many groups of 16 bits these are, `nil` if one is malformed.
    private static func groupCount(_ text: ArraySlice<UInt8>) -> Int? {
        let parts = text.split(separator: 0x3A, maxSplits: 8, omittingEmptySubsequences: false)
        var count = 0
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains(0x2E) {
                guard isIPv4(part) else { return nil }
                count += 2
            } else {
                guard (1...4).contains(part.count) else { return nil }
                guard part.allSatisfy({ $0.hexDigitValue != nil }) else { return nil }
                count += 1
            }
        }
        return count
    }
}
