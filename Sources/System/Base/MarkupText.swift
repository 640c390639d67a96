/// HTML or XML in the making.
package struct MarkupText {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Adds what is markup already.
    package static func += (text: inout MarkupText, markup: String) {
        text.bytes += markup.utf8
    }

    /// Adds a recorded text on its own direction, so that it cannot turn what is around it.
    package mutating func append(_ recorded: String) {
        self += "<bdi>"
        append(escaped: recorded)
        self += "</bdi>"
    }

    /// Adds a recorded text with every sign as a reference that means something in markup, and what
    /// acts on a reader unseen as its number: not even a reference to most of those is allowed in XML
    /// (XML 1.0 §4.1).
    ///
    /// - Parameter keepsLines: whether line ends and tabs stay; in an attribute they would be read as
    ///   spaces (XML 1.0 §3.3.3), so there they are references.
    package mutating func append(escaped recorded: String, keepsLines: Bool = true) {
        let start = bytes.count
        bytes += recorded.utf8
        guard let special = bytes[start...].firstIndex(where: Self.mayNeedEscape) else { return }
        let rest = String(decoding: bytes[special...], as: UTF8.self)
        bytes.removeSubrange(special...)
        for scalar in rest.unicodeScalars { append(scalar, keepsLines: keepsLines) }
    }

    /// Text that may stand between tags and in quoted attributes, whatever it holds.
    package static func escaped(_ recorded: String, keepsLines: Bool = true) -> String {
        var text = MarkupText()
        text.append(escaped: recorded, keepsLines: keepsLines)
        return text.bytes.text
    }

    private mutating func append(_ scalar: Unicode.Scalar, keepsLines: Bool) {
        switch scalar {
        case "\"": self += "&quot;"
        case "&": self += "&amp;"
        case "'": self += "&#39;"
        case "<": self += "&lt;"
        case ">": self += "&gt;"
        case "`": self += "&#96;"
        case "\n", "\t": self += keepsLines ? String(scalar) : "&#\(scalar.value);"
        case _ where scalar.actsOnReader: self += scalar.escape
        default: bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        }
    }

    private static func mayNeedEscape(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x26, 0x3C, 0x3E, 0x22, 0x27, 0x60: true
        default: byte.mayBeginUnseen
        }
    }
}
