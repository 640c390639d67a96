internal import Base

/// Text that is safe between HTML tags and in quoted attributes.
func escapedHTML(_ text: String) -> String {
    var result = ""
    for character in text.unicodeScalars {
        switch character {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        case "'": result += "&#39;"
        default: result.unicodeScalars.append(character)
        }
    }
    return result
}

/// A JSON string with its quotes (RFC 8259 §7).
func quotedJSON(_ text: String) -> String {
    var result = "\""
    for character in text.unicodeScalars {
        switch character {
        case "\"": result += "\\\""
        case "\\": result += "\\\\"
        case "\n": result += "\\n"
        case "\r": result += "\\r"
        case "\t": result += "\\t"
        default:
            if character.value < 0x20 {
                result += "\\u00" + [UInt8(truncatingIfNeeded: character.value)].hex
            } else {
                result.unicodeScalars.append(character)
            }
        }
    }
    return result + "\""
}
