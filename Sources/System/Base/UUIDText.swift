/// Universally unique identifiers as text (RFC 9562 §4).
package enum UUIDText {
    /// A new one, such as `1b4e28ba-2fa1-41d2-883f-0016d3cca427`.
    package static func random() -> String {
        text((0..<16).map { _ in UInt8.random(in: .min ... .max) }, version: 4)
    }

    /// One that the seed gives, of version 4 by its form.
    package static func text(seed: UInt64, _ index: UInt64 = 0) -> String {
        let words = [2 * index, 2 * index + 1].map { SplitMix.word(seed: seed, $0) }
        let bytes = words.flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
        }
        return text(bytes, version: 4)
    }

    /// - Parameters:
    ///   - bytes: at least sixteen, of which six bits are not used.
    ///   - version: 4 for bytes that look random, 8 for those that are derived from something.
    package static func text(_ bytes: [UInt8], version: UInt8) -> String {
        var bytes = bytes
        bytes[6] = bytes[6] & 0x0F | version << 4
        bytes[8] = bytes[8] & 0x3F | 0x80
        let groups = [bytes[..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10..<16]]
        return groups.map { Array($0).hex }.joined(separator: "-")
    }
}
