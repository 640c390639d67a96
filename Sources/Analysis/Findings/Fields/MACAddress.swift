internal import Base

/// Six octets of a network interface, in pairs with `:` or `-` between, or twelve digits in a row.
struct MACAddress {
    /// Whether pairs are set off, as in nothing else of this length.
    let isSpelledOut: Bool
    private let octets: [UInt8]

    init?(_ value: [UInt8]) {
        guard value.count == 17 || value.count == 12 else { return nil }
        var digits = value
        if value.count == 17 {
            let sign = value[2]
            guard sign == 0x3A || sign == 0x2D,
                stride(from: 2, to: 17, by: 3).allSatisfy({ value[$0] == sign })
            else { return nil }
            digits = value.enumerated().filter { $0.offset % 3 != 2 }.map(\.element)
        }
        guard let octets = bytes(fromHex: digits.text) else { return nil }
        self.octets = octets
        isSpelledOut = value.count == 17 && value.contains(where: \.isASCIILetter)
    }

    /// Whether it is no single interface's: broadcast, multicast, or nothing.
    var isNone: Bool { octets[0] & 1 == 1 || octets.allSatisfy { $0 == 0 } }
    /// Whether it was made up, as systems do to keep the real one to themselves (IEEE 802 §8.4).
    var isLocal: Bool { octets[0] & 2 == 2 }
}
