internal import Base

/// Where a SOCKS client wants to be connected to.
package struct SOCKSDestination: Sendable, Hashable {
    package let host: SOCKSHost
    package let port: UInt16

    package init(host: SOCKSHost, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Address, port and their type, as SOCKS5 writes them (RFC 1928 §5).
    var socks5Bytes: [UInt8] {
        let portBytes = [UInt8(port >> 8), UInt8(truncatingIfNeeded: port)]
        switch host {
        case .name(let name):
            let bytes = [UInt8](name.utf8.prefix(SOCKSHost.nameLimit))
            return [3, UInt8(bytes.count)] + bytes + portBytes
        case .ipv4(let address):
            return [1] + bigEndianBytes(UInt64(address), count: 4) + portBytes
        case .ipv6(let high, let low):
            return [4] + bigEndianBytes(high, count: 8) + bigEndianBytes(low, count: 8) + portBytes
        }
    }
}

/// A host by its name or its address.
package enum SOCKSHost: Sendable, Hashable {
    /// 1 to 255 bytes of visible ASCII without the delimiters of a URL.
    case name(String)
    case ipv4(UInt32)
    /// The upper and the lower half.
    case ipv6(UInt64, UInt64)

    /// In bytes: the length has one byte on the wire (RFC 1928 §5).
    static let nameLimit = 255

    /// Reads a name or the text of an address, which becomes that address; brackets are no part
    /// of it.
    ///
    /// - Returns: `nil` for text that is neither, such as one with control characters, space,
    ///   bytes that are not ASCII, a number that is no address in its usual form, or more than 255
    ///   bytes.
    package init?(_ text: some Collection<UInt8>) {
        let bytes = Array(text)
        guard (1...Self.nameLimit).contains(bytes.count) else { return nil }
        if let address = Self.ipv4(bytes[...]) {
            self = .ipv4(address)
        } else if bytes.contains(0x3A) {
            guard let groups = Self.ipv6Groups(bytes[...]) else { return nil }
            self = Self.ipv6(groups)
        } else {
            // A number that is no address to us may be one to a resolver, and pass every rule.
            guard bytes.allSatisfy(Self.isNameByte), !bytes[...].readsAsIPv4 else { return nil }
            self = .name(bytes.text)
        }
    }

    package init?(_ text: String) {
        self.init(text.utf8)
    }

    /// The name, or the address as text (RFC 5952) without brackets.
    package var text: String {
        switch self {
        case .name(let name): name
        case .ipv4(let address):
            bigEndianBytes(UInt64(address), count: 4).map(String.init).joined(separator: ".")
        case .ipv6(let high, let low): Self.text(ofIPv6: high, low)
        }
    }

    package var isAddress: Bool {
        if case .name = self { return false }
        return true
    }

    /// - Parameter bytes: sixteen.
    static func ipv6(bytes: some Collection<UInt8>) -> SOCKSHost {
        .ipv6(bigEndian(bytes.prefix(8)), bigEndian(bytes.dropFirst(8).prefix(8)))
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x22, 0x23, 0x25, 0x2F, 0x3A, 0x3C, 0x3E, 0x3F, 0x40, 0x5B, 0x5C, 0x5D: false
        default: byte > 0x20 && byte < 0x7F
        }
    }
}

extension SOCKSHost {
    /// Four decimal numbers to 255 without leading zeros, which some read as octal.
    private static func ipv4(_ text: ArraySlice<UInt8>) -> UInt32? {
        guard text.count <= 15 else { return nil }
        let parts = text.split(separator: 0x2E, maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.count), part.allSatisfy(\.isASCIIDigit),
                part.count == 1 || part.first != 0x30
            else { return nil }
            let value = part.reduce(UInt32(0)) { $0 * 10 + UInt32($1 &- 0x30) }
            guard value <= 255 else { return nil }
            address = address << 8 | value
        }
        return address
    }

    /// The eight groups of an IPv6 address without a zone (RFC 4291 §2.2).
    private static func ipv6Groups(_ text: ArraySlice<UInt8>) -> [UInt16]? {
        guard text.count <= 45 else { return nil }
        let gap = text.indices.dropLast().first { text[$0] == 0x3A && text[$0 + 1] == 0x3A }
        guard let gap else {
            guard let all = groups(text, endsAddress: true), all.count == 8 else { return nil }
            return all
        }
        guard let before = groups(text[..<gap], endsAddress: false),
            let after = groups(text[(gap + 2)...], endsAddress: true),
            before.count + after.count <= 7
        else { return nil }
        return before + [UInt16](repeating: 0, count: 8 - before.count - after.count) + after
    }

    private static func groups(_ text: ArraySlice<UInt8>, endsAddress: Bool) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: 0x3A, maxSplits: 8, omittingEmptySubsequences: false)
        var result: [UInt16] = []
        for (index, part) in parts.enumerated() {
            if endsAddress, index == parts.count - 1, let address = ipv4(part) {
                result += [UInt16(address >> 16), UInt16(truncatingIfNeeded: address)]
                continue
            }
            guard (1...4).contains(part.count) else { return nil }
            var group: UInt16 = 0
            for byte in part {
                guard let digit = byte.hexDigitValue else { return nil }
                group = group << 4 | UInt16(digit)
            }
            result.append(group)
        }
        return result
    }

    private static func ipv6(_ groups: [UInt16]) -> SOCKSHost {
        let bytes = groups.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        return ipv6(bytes: bytes)
    }

    /// The longest run of zeros, from two on, becomes `::`; the first of equals (RFC 5952 §4.2).
    private static func text(ofIPv6 high: UInt64, _ low: UInt64) -> String {
        let groups = [high, low].flatMap { half in
            [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: half >> UInt64($0)) }
        }
        var gap = 0..<0
        var start = 0
        while start < 8 {
            var end = start
            while end < 8, groups[end] == 0 { end += 1 }
            if end - start > max(gap.count, 1) { gap = start..<end }
            start = max(end, start + 1)
        }
        let digits = groups.map { String($0, radix: 16) }
        guard !gap.isEmpty else { return digits.joined(separator: ":") }
        return digits[..<gap.lowerBound].joined(separator: ":") + "::"
            + digits[gap.upperBound...].joined(separator: ":")
    }
}

/// The number that at most eight bytes in network order stand for.
func bigEndian(_ bytes: some Collection<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
}

private func bigEndianBytes(_ value: UInt64, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64((count - 1 - $0) * 8)) }
}
