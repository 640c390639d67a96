/// Patterns in which `*` stands for any run of characters, an empty one too.
///
/// A backslash in front of a star takes its meaning away, and two are one there; elsewhere, a
/// backslash is itself, as the paths of JSON have them.
package enum Glob {
    package static func matches(_ text: String, _ pattern: String) -> Bool {
        var steps = Int.max
        return matches(text, pattern, steps: &steps)
    }

    /// The same in so many steps at most, which are as many as a text has bytes for each of its
    /// pattern's at worst; none is left where they did not do.
    package static func matches(_ text: String, _ pattern: String, steps: inout Int) -> Bool {
        guard pattern.utf8.contains(star) else { return text.utf8.elementsEqual(pattern.utf8) }
        return matches(Array(text.utf8), read(pattern), &steps)
    }

    /// As `shExpMatch` of proxy scripts has them: `?` stands for any one byte besides. `steps` as above.
    package static func matchesShell(
        _ text: String, _ pattern: String, steps: inout Int
    ) -> Bool {
        let pieces = read(pattern).map { $0 == .byte(question) ? .one : $0 }
        return matches(Array(text.utf8), pieces, &steps)
    }

    private static func matches(_ text: [UInt8], _ pattern: [Piece], _ steps: inout Int) -> Bool {
        var (place, at) = (0, 0)
        // Where the last star stands, and how far it reaches.
        var last: (pattern: Int, text: Int)?
        while place < text.count {
            steps -= 1
            guard steps > 0 else { return false }
            if at < pattern.count, pattern[at] == .run {
                last = (at, place)
                at += 1
            } else if at < pattern.count, pattern[at] == .one || pattern[at] == .byte(text[place]) {
                at += 1
                place += 1
            } else if let known = last {
                last = (known.pattern, known.text + 1)
                at = known.pattern + 1
                place = known.text + 1
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { $0 == .run }
    }

    /// The pattern that stands for this text alone.
    package static func literal(_ text: String) -> String {
        guard text.utf8.contains(star) else { return text }
        var result: [UInt8] = []
        var slashes = 0
        for byte in text.utf8 {
            if byte == star { result += [UInt8](repeating: backslash, count: slashes + 1) }
            slashes = byte == backslash ? slashes + 1 : 0
            result.append(byte)
        }
        return String(decoding: result, as: UTF8.self)
    }

    private enum Piece: Equatable {
        case byte(UInt8)
        case one
        case run
    }

    private static func read(_ pattern: String) -> [Piece] {
        var result: [Piece] = []
        var slashes = 0
        for byte in pattern.utf8 {
            if byte == backslash {
                slashes += 1
                continue
            }
            let count = byte == star ? slashes / 2 : slashes
            result += [Piece](repeating: .byte(backslash), count: count)
            result.append(byte == star && slashes.isMultiple(of: 2) ? .run : .byte(byte))
            slashes = 0
        }
        return result + [Piece](repeating: .byte(backslash), count: slashes)
    }

    private static let star = UInt8(ascii: "*")
    private static let question = UInt8(ascii: "?")
    private static let backslash = UInt8(ascii: "\\")
}
