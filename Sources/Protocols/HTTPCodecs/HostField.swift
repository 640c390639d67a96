internal import Base
package import HTTPModel

/// Reads `host [":" port]`, as Host and the authority of a target have it (RFC 9110 §7.2).
///
/// It is stricter than RFC 3986: a name holds letters, digits, `-`, `.`, `_` and `~` only. The
/// grammar's `%` and sub-delims stand in no name that DNS knows, and recipients disagree about
/// them. A name whose last label is a number must be an IPv4 address in its usual form, since
/// resolvers take `0x7f.1` and `2130706433` for addresses and filters do not.
package enum HostField {
    /// Of a host, in bytes; DNS allows 253.
    private static let hostLimit = 255

    /// - Returns: the host in lower case, an IPv6 address without its brackets, and the port if
    ///   one is named (1 to 65535; `host:` names none); `nil` if it is malformed or empty.
    package static func parse(_ value: ArraySlice<UInt8>) -> (host: String, port: UInt16?)? {
        if value.first == 0x5B { return parseBracketed(value) }
        let colon = value.firstIndex(of: 0x3A)
        let host = value[..<(colon ?? value.endIndex)]
        guard isName(host) else { return nil }
        guard let colon else { return (lowercased(host), nil) }
        guard let port = port(value[(colon + 1)...]) else { return nil }
        return (lowercased(host), port.number)
    }

    private static func parseBracketed(
        _ value: ArraySlice<UInt8>
    ) -> (host: String, port: UInt16?)? {
        guard let end = value.firstIndex(of: 0x5D) else { return nil }
        let address = value[(value.startIndex + 1)..<end]
        guard IPAddressText.isIPv6(address) else { return nil }
        let rest = value[(end + 1)...]
        guard let colon = rest.first else { return (lowercased(address), nil) }
        guard colon == 0x3A, let port = port(rest.dropFirst()) else { return nil }
        return (lowercased(address), port.number)
    }

    /// A port, `nil` in `number` if there are no digits, `nil` altogether if it is none.
    private static func port(_ digits: ArraySlice<UInt8>) -> (number: UInt16?, Void)? {
        if digits.isEmpty { return (nil, ()) }
        guard digits.count <= 5, digits.allSatisfy(\.isASCIIDigit) else { return nil }
        let number = digits.reduce(0) { $0 * 10 + Int($1 &- 0x30) }
        guard number > 0, let port = UInt16(exactly: number) else { return nil }
        return (port, ())
    }

    private static func isName(_ name: ArraySlice<UInt8>) -> Bool {
        guard !name.isEmpty, name.count <= hostLimit else { return false }
        // One dot at the end makes a name absolute.
        let relative = name.last == 0x2E ? name.dropLast() : name
        var labelStart = relative.startIndex
        for index in relative.indices {
            let byte = relative[index]
            if byte == 0x2E {
                guard index > labelStart else { return false }
                labelStart = index + 1
            } else {
                let isAllowed =
                    byte.isASCIILetter || byte.isASCIIDigit || byte == 0x2D || byte == 0x5F
                    || byte == 0x7E
                guard isAllowed else { return false }
            }
        }
        let last = relative[labelStart...]
        guard !last.isEmpty else { return false }
        return !relative.readsAsIPv4 || IPAddressText.isIPv4(relative)
    }

    private static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.map { $0.asciiLowercased }, as: UTF8.self)
    }
}

extension RequestHead {
    /// The host that the request names, as `HostField` reads it.
    package var hostName: String? {
        fields.first(.host).flatMap { HostField.parse($0)?.host }
    }
}
