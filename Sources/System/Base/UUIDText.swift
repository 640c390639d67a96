/// Universally unique identifiers as text (RFC 9562 §5.4).
package enum UUIDText {
    /// A new one, such as `1b4e28ba-2fa1-41d2-883f-0016d3cca427`.
    package static func random() -> String {
        version4((0..<16).map { _ in UInt8.random(in: .min ... .max) })
    }

    /// One of version 4 by its form.
    ///
    /// - Parameter bytes: at least sixteen, of which six bits are not used.
    package static func version4(_ bytes: [UInt8]) -> String {
        var bytes = bytes
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let groups = [bytes[..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10..<16]]
        return groups.map { Array($0).hex }.joined(separator: "-")
    }
}
