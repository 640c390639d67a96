/// Text that a person can read: UTF-8 without control characters but tabs and line ends.
package struct PrintableText {
    package let text: String

    /// Returns `nil` if the bytes are no such text.
    ///
    /// - Parameter isWhole: false if the bytes were cut; a character that the cut split is left out.
    package init?(_ bytes: [UInt8], isWhole: Bool) {
        var end = bytes.count
        if !isWhole {
            // The cut may have split a character: its start and up to two more bytes are dropped.
            while end > 0, bytes[end - 1] & 0xC0 == 0x80, bytes.count - end < 3 { end -= 1 }
            if end > 0, bytes[end - 1] >= 0xC0 { end -= 1 }
        }
        let isControlled = bytes[..<end].contains { byte in
            byte < 0x20 && byte != 0x0A && byte != 0x0D && byte != 0x09 || byte == 0x7F
        }
        guard !isControlled, let text = String(validating: bytes[..<end], as: UTF8.self) else {
            return nil
        }
        self.text = text
    }
}
