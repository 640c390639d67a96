/// Hosts that are this machine wherever they are asked for.
package enum LoopbackHost {
    /// Whether a name stands for loopback without being looked up (RFC 6761 §6.3).
    package static func isName(_ host: String) -> Bool {
        let bytes = host.utf8.last == UInt8(ascii: ".") ? host.utf8.dropLast() : host.utf8[...]
        guard bytes.count >= label.count,
            zip(bytes.suffix(label.count), label).allSatisfy({ $0.asciiLowercased == $1 })
        else { return false }
        return bytes.count == label.count
            || bytes.dropLast(label.count).last == UInt8(ascii: ".")
    }

    /// Whether it is an address of loopback without brackets: 127/8 (RFC 1122 §3.2.1.3), `::1`, or
    /// one of the former mapped into IPv6.
    package static func isAddress(_ host: String) -> Bool {
        guard let first = host.utf8.first, first == UInt8(ascii: ":") || first == UInt8(ascii: "1")
        else { return false }
        if host == "::1" { return true }
        let four = host.hasPrefix("::ffff:") ? host.dropFirst(7) : host[...]
        let parts = four.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    package static func contains(_ host: String) -> Bool {
        isName(host) || isAddress(host)
    }

    private static let label = Array("localhost".utf8)
}
