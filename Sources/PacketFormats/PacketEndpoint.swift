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
        var halves: [[UInt8]] = [[]]
        var pieces = text.split(separator: ":", omittingEmptySubsequences: false)[...]
        if pieces.count > 2, pieces.first == "" { pieces = pieces.dropFirst() }
        if pieces.count > 2, pieces.last == "" { pieces = pieces.dropLast() }
        for piece in pieces {
            if piece.isEmpty {
                halves.append([])
            } else if piece.contains("."), let last = version4(piece) {
                halves[halves.count - 1] += last
            } else if let group = UInt16(piece, radix: 16) {
                halves[halves.count - 1] += group.bigEndianBytes
            } else {
                return nil
            }
        }
        guard halves.count == 2 else {
            return halves.count == 1 && halves[0].count == 16 ? halves[0] : nil
        }
        let gap = 16 - halves[0].count - halves[1].count
        guard gap > 0 else { return nil }
        return halves[0] + [UInt8](repeating: 0, count: gap) + halves[1]
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
