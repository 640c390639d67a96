/// A host or address with a port, as on the command line: `127.0.0.1:8080`, `[::1]:0`.
package struct HostPort: Sendable, Equatable, CustomStringConvertible {
    /// Without brackets.
    package let host: String
    /// 0 asks for any free port.
    package let port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST:PORT`; an IPv6 address stands in brackets. `nil` if the text is none.
    package init?(_ text: String) {
        let bytes = [UInt8](text.utf8)
        guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        var host = bytes[..<colon]
        let digits = bytes[(colon + 1)...]
        if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
            host = host.dropFirst().dropLast()
            guard host.contains(UInt8(ascii: ":")), host.allSatisfy(Self.isAddressByte) else {
                return nil
            }
        } else {
            guard host.allSatisfy(Self.isNameByte) else { return nil }
        }
        guard !host.isEmpty, !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit),
            let port = UInt16(digits.text)
        else { return nil }
        self.init(host: host.text, port: port)
    }

    package var description: String { "\(Self.bracketed(host)):\(port)" }

    /// A host as it stands in a URL: an IPv6 address in brackets (RFC 3986 §3.2.2).
    package static func bracketed(_ host: String) -> String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    }

    /// The address to reach a listener at: loopback where it listens on every address.
    package var reachable: HostPort {
        switch host {
        case "0.0.0.0": HostPort(host: "127.0.0.1", port: port)
        case "::": HostPort(host: "::1", port: port)
        default: self
        }
    }

    /// Hexadecimal digits, colons, dots of an embedded IPv4 address, and a zone (RFC 4007 §11).
    private static func isAddressByte(_ byte: UInt8) -> Bool {
        byte.hexDigitValue != nil || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "%") || byte.isASCIILetter
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}
