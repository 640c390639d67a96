internal import Base

/// An IP address with a port.
struct PacketEndpoint: Sendable, Hashable {
    /// The address as a number, so that a packet costs no allocation for it.
    private var high: UInt64
    private var low: UInt64
    private(set) var isVersion6: Bool
    var port: UInt16

    /// - Parameter address: 4 or 16 bytes.
    init(address: some Collection<UInt8>, port: UInt16) {
        isVersion6 = address.count == 16
        high = address.dropLast(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = address.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
        self.port = port
    }

    /// 4 or 16 bytes.
    var address: [UInt8] {
        get {
            isVersion6
                ? high.bigEndianBytes + low.bigEndianBytes
                : UInt32(truncatingIfNeeded: low).bigEndianBytes
        }
        set { self = PacketEndpoint(address: newValue, port: port) }
    }

    /// An order of both ends of a connection, of no other meaning.
    static func < (left: PacketEndpoint, right: PacketEndpoint) -> Bool {
        (left.high, left.low, left.port) < (right.high, right.low, right.port)
    }

    func with(port: UInt16) -> PacketEndpoint {
        var result = self
        result.port = port
        return result
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
        guard !isVersion6 else { return self }
        return PacketEndpoint(
            address: [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + address, port: port)
    }

    var isLoopback: Bool { isVersion6 ? high == 0 && low < 256 : low >> 24 == 127 }

    /// Whether many may hear what is sent there (RFC 1112 §4, RFC 4291 §2.7, RFC 919 §7).
    var isMulticast: Bool {
        isVersion6 ? high >> 56 == 0xFF : low >> 28 == 0xE || low == 0xFFFF_FFFF
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
    var text: String { isVersion6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// The address alone.
    var host: String {
        let address = address
        guard isVersion6 else { return address.map { String($0) }.joined(separator: ".") }
        let groups = stride(from: 0, to: 16, by: 2).map {
            String(UInt16(address[$0]) << 8 | UInt16(address[$0 + 1]), radix: 16)
        }
        return Self.shortened(groups)
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
