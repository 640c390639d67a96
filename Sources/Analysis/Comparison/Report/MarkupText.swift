/// A page of HTML in the making.
struct MarkupText {
    private(set) var bytes: [UInt8] = []

    /// Adds what is markup already.
    static func += (text: inout MarkupText, markup: String) {
        text.bytes += markup.utf8
    }

    /// Adds a recorded text on its own direction, so that it cannot turn what is around it.
    mutating func append(_ recorded: String) {
        self += "<bdi>"
        append(escaped: recorded)
        self += "</bdi>"
    }

    /// Adds a recorded text with every sign as a reference that means something in HTML, and what
    /// acts on a reader unseen as its number.
    mutating func append(escaped recorded: String) {
        let start = bytes.count
        bytes += recorded.utf8
        guard let special = bytes[start...].firstIndex(where: Self.mayNeedEscape) else { return }
        let rest = String(decoding: bytes[special...], as: UTF8.self)
        bytes.removeSubrange(special...)
        for scalar in rest.unicodeScalars { append(escaped: scalar) }
    }

    private mutating func append(escaped scalar: Unicode.Scalar) {
        switch scalar.value {
        case 0x22: self += "&#34;"
        case 0x26: self += "&#38;"
        case 0x27: self += "&#39;"
        case 0x3C: self += "&#60;"
        case 0x3E: self += "&#62;"
        case 0x60: self += "&#96;"
        case 0x0A, 0x09, 0x20..<0x7F: bytes.append(UInt8(truncatingIfNeeded: scalar.value))
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F,
            0xFEFF, 0xFFF9...0xFFFF, 0xE0000...0xE007F:
            self += "\\u{" + String(scalar.value, radix: 16) + "}"
        default: bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        }
    }

    private static func mayNeedEscape(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x26, 0x3C, 0x3E, 0x22, 0x27, 0x60: true
        default: byte &- 0x20 >= 0x5F
        }
    }
}
