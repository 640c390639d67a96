internal import Base

/// An IP address with a port.
struct PacketEndpoint: Sendable, Hashable {
    /// 4 or 16 bytes.
    var address: [UInt8]
    var port: UInt16

    init(address: [UInt8], port: UInt16) {
        self.address = address
        self.port = port
    }

    /// Reads `127.0.0.1:8080` or `[::1]:8080`.
    init?(text: String) {
        guard let colon = text.utf8.lastIndex(of: 0x3A),
            let port = UInt16(text[text.index(after: colon)...])
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard let address = Self.address(String(host)) else { return nil }
        self.init(address: address, port: port)
    }

    /// An address in the form of IPv6, if it is not (RFC 4291 §2.5.5.2).
    var asIPv6: PacketEndpoint {
        guard address.count == 4 else { return self }
        return PacketEndpoint(
            address: [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + address, port: port)
    }

    var isLoopback: Bool {
        address.count == 4 ? address[0] == 127 : address.dropLast().allSatisfy { $0 == 0 }
    }

    /// The bytes of an address of either version, `nil` if the text is none; a zone is left out.
    static func address(_ text: String) -> [UInt8]? {
        let text = text.prefix { $0 != "%" }
        guard text.contains(":") else { return version4(text) }
        guard let gap = text.firstRange(of: "::") else {
            let all = groups(text)
            return all?.count == 16 ? all : nil
        }
        guard let before = groups(text[..<gap.lowerBound]),
            let after = groups(text[gap.upperBound...]), before.count + after.count < 16
        else { return nil }
        return before + [UInt8](repeating: 0, count: 16 - before.count - after.count) + after
    }

    private static func groups(_ text: Substring) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        var result: [UInt8] = []
        for piece in text.split(separator: ":", omittingEmptySubsequences: false) {
            if piece.contains("."), let last = version4(piece) {
                result += last
            } else if piece.utf8.allSatisfy({ $0.hexDigitValue != nil }),
                let group = UInt16(piece, radix: 16)
            {
                result += group.bigEndianBytes
            } else {
                return nil
            }
        }
        return result
    }

    private static func version4(_ text: some StringProtocol) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard parts.count == 4, !parts.contains(nil) else { return nil }
        return parts.compactMap { $0 }
    }

    /// As captures spell it.
    var text: String {
        guard address.count == 16 else {
            return address.map { String($0) }.joined(separator: ".") + ":\(port)"
        }
        let groups = stride(from: 0, to: 16, by: 2).map {
            String(UInt16(address[$0]) << 8 | UInt16(address[$0 + 1]), radix: 16)
        }
        return "[\(Self.shortened(groups))]:\(port)"
    }

    /// Leaves out the longest row of zeros (RFC 5952 §4.2).
    private static func shortened(_ groups: [String]) -> String {
        var best = 0..<0
        var start = 0
        while start < groups.count {
            let end = groups[start...].firstIndex { $0 != "0" } ?? groups.count
            if end - start > max(1, best.count) { best = start..<end }
            start = max(end, start) + 1
        }
        guard !best.isEmpty else { return groups.joined(separator: ":") }
        return groups[..<best.lowerBound].joined(separator: ":") + "::"
            + groups[best.upperBound...].joined(separator: ":")
    }
}
