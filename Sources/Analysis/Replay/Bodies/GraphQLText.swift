internal import Base

/// Documents of GraphQL, told apart by what they say and not by how they are laid out.
enum GraphQLText {
    /// The text without comments and commas, and with single spaces where some are needed
    /// (GraphQL §2.1.7); strings stay as they are.
    static func normalized(_ text: String) -> String {
        var result: [UInt8] = []
        var isInString = false
        var isInComment = false
        var needsSpace = false
        var previous: UInt8 = 0
        for byte in text.utf8 {
            if isInString {
                result.append(byte)
                if byte == 0x22, previous != 0x5C { isInString = false }
                previous = previous == 0x5C ? 0 : byte
                continue
            }
            if isInComment {
                isInComment = byte != 0x0A
                continue
            }
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D, 0x2C: needsSpace = true
            case 0x23:
                isInComment = true
                needsSpace = true
            default:
                if needsSpace, isWord(byte), result.last.map(isWord) ?? false {
                    result.append(0x20)
                }
                needsSpace = false
                isInString = byte == 0x22
                result.append(byte)
            }
            previous = byte
        }
        return result.text
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || byte == 0x5F || byte == 0x2D || byte >= 0x80
    }
}
