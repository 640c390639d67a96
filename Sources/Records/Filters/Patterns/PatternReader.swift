internal import Base

/// Reads regular expressions: what grep, Python and JavaScript have in common, without what cannot
/// be matched in bounded time (references to groups, looking around).
///
///     choice   = sequence *( "|" sequence )
///     sequence = *( atom [ ( "*" / "+" / "?" / "{" least [ "," [ most ] ] "}" ) [ "?" ] ] )
///     atom     = character / "." / "^" / "$" / class / escape / "(" [ "?" kind ] choice ")"
struct PatternReader {
    private let text: [Character]
    private var place = 0
    private var depth = 0
    private var options = Options()

    /// What flags such as `(?i)` set.
    private struct Options {
        var ignoresCase = true
        var dotTakesLines = false
        var anchorsTakeLines = false
    }

    /// Reads without regard to case, unless the pattern says `(?-i)`.
    static func read(_ text: String) throws(PatternViolation) -> PatternNode {
        var reader = PatternReader(text: Array(text))
        guard reader.text.count <= Self.lengthLimit else {
            throw PatternViolation(
                Self.lengthLimit, "a pattern has at most \(Self.lengthLimit) characters")
        }
        let node = try reader.readChoice()
        guard reader.next == nil else { throw reader.violation("no group is open here") }
        return node
    }

    private init(text: [Character]) {
        self.text = text
    }

    private mutating func readChoice() throws(PatternViolation) -> PatternNode {
        var parts = [try readSequence()]
        while accept("|") { parts.append(try readSequence()) }
        return parts.count == 1 ? parts[0] : .choice(parts)
    }

    private mutating func readSequence() throws(PatternViolation) -> PatternNode {
        var parts: [PatternNode] = []
        while let character = next, character != "|", character != ")" {
            let atom = try readAtom()
            parts.append(try readRepetition(of: atom))
        }
        return parts.count == 1 ? parts[0] : .sequence(parts)
    }

    private mutating func readAtom() throws(PatternViolation) -> PatternNode {
        guard let character = next else { return .empty }
        switch character {
        case "(": return try readGroup()
        case "[": return try readClass()
        case "\\": return try readEscape()
        case "*", "+", "?": throw violation("there is nothing to repeat before '\(character)'")
        default: break
        }
        place += 1
        switch character {
        case ".":
            let line = ByteSet(0x0A...0x0A)
            return .orBeyondASCII(options.dotTakesLines ? .ascii : .ascii.subtracting(line))
        case "^": return .assertion(options.anchorsTakeLines ? .lineStart : .textStart)
        case "$": return .assertion(options.anchorsTakeLines ? .lineEnd : .textEnd)
        default: return .literal(character.utf8, ignoresCase: options.ignoresCase)
        }
    }

    private mutating func readGroup() throws(PatternViolation) -> PatternNode {
        let start = place
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else {
            throw violation("more than \(Self.depthLimit) groups inside of one another")
        }
        place += 1
        let outer = options
        if accept("?"), try readKind(start) { return .empty }
        let node = try readChoice()
        guard accept(")") else {
            throw PatternViolation(start, "the group that starts here does not end")
        }
        options = outer
        return node
    }

    /// Reads what follows `(?`; returns whether that was all, flags for what comes behind.
    private mutating func readKind(_ start: Int) throws(PatternViolation) -> Bool {
        if accept(":") { return false }
        _ = accept("P")
        if accept("<") {
            let name = readWhile { $0.isLetter || $0.isNumber || $0 == "_" }
            guard !name.isEmpty, accept(">") else {
                throw PatternViolation(start, "looking around is not possible here")
            }
            return false
        }
        var isOn = true
        while let character = next {
            place += 1
            switch character {
            case "-": isOn = false
            case "i": options.ignoresCase = isOn
            case "s": options.dotTakesLines = isOn
            case "m": options.anchorsTakeLines = isOn
            case ":": return false
            case ")": return true
            case "=", "!": throw PatternViolation(start, "looking around is not possible here")
            default: throw PatternViolation(place - 1, "unknown flag '\(character)'")
            }
        }
        throw PatternViolation(start, "the group that starts here does not end")
    }

    private mutating func readRepetition(
        of atom: PatternNode
    ) throws(PatternViolation) -> PatternNode {
        guard let bounds = try readBounds() else { return atom }
        // Whether it would rather take less makes no difference to whether it matches.
        _ = accept("?")
        if let sign = next, "*+?".contains(sign) {
            throw violation("there is nothing to repeat before '\(sign)'")
        }
        return .repeated(atom, least: bounds.least, most: bounds.most)
    }

    private mutating func readBounds() throws(PatternViolation) -> (least: Int, most: Int?)? {
        if accept("*") { return (0, nil) }
        if accept("+") { return (1, nil) }
        if accept("?") { return (0, 1) }
        let start = place
        guard accept("{") else { return nil }
        let least = readWhile { "0123456789".contains($0) }
        let hasComma = accept(",")
        let most = hasComma ? readWhile { "0123456789".contains($0) } : least
        guard accept("}"), !(least.isEmpty && most.isEmpty) else {
            // A brace that counts nothing stands for itself, as JSON has many.
            place = start
            return nil
        }
        let bounds = (Int(least) ?? 0, most.isEmpty ? nil : Int(most) ?? .max)
        guard bounds.0 <= bounds.1 ?? .max, (bounds.1 ?? bounds.0) <= Self.countLimit else {
            throw PatternViolation(
                start, "a count goes from a smaller to a larger number, up to \(Self.countLimit)")
        }
        return bounds
    }

    /// More is no pattern of a person.
    private static let lengthLimit = 2000
    private static let depthLimit = 50
    private static let countLimit = 1000
}

// MARK: Classes and escapes

extension PatternReader {
    /// Bytes of ASCII, and characters beyond.
    private struct Members {
        var bytes = ByteSet.none
        var characters: [PatternNode] = []
        /// Whether all characters beyond ASCII are in it.
        var isOpen = false
    }

    private mutating func readClass() throws(PatternViolation) -> PatternNode {
        let start = place
        place += 1
        let isNegated = accept("^")
        var members = Members()
        var isFirst = true
        while let character = next, isFirst || character != "]" {
            isFirst = false
            try readMember(into: &members)
        }
        guard accept("]") else {
            throw PatternViolation(start, "the class that starts here does not end")
        }
        if options.ignoresCase { members.bytes = members.bytes.ignoringCase }
        if isNegated {
            guard members.characters.isEmpty, !members.isOpen else {
                throw PatternViolation(start, "only ASCII can be left out by '[^'")
            }
            return .orBeyondASCII(.ascii.subtracting(members.bytes))
        }
        let base: PatternNode =
            members.isOpen ? .orBeyondASCII(members.bytes) : .byte(members.bytes)
        return members.characters.isEmpty ? base : .choice([base] + members.characters)
    }

    private mutating func readMember(into members: inout Members) throws(PatternViolation) {
        let start = place
        guard let first = try readMemberByte(into: &members) else { return }
        guard next == "-", place + 1 < text.count, text[place + 1] != "]" else {
            members.bytes.insert(first)
            return
        }
        place += 1
        var ignored = Members()
        guard let last = try readMemberByte(into: &ignored), first <= last else {
            throw PatternViolation(start, "a range goes from a smaller to a larger ASCII character")
        }
        members.bytes = members.bytes.union(ByteSet(first...last))
    }

    /// Returns what can begin or end a range; takes anything else in.
    private mutating func readMemberByte(
        into members: inout Members
    ) throws(PatternViolation) -> UInt8? {
        guard let character = next else { return nil }
        if character == "\\" {
            let start = place
            place += 1
            guard let letter = next else { throw PatternViolation(start, "'\\' escapes nothing") }
            if let known = Self.sets[Character(letter.lowercased())] {
                place += 1
                let isNegated = letter.isUppercase
                members.bytes = members.bytes.union(isNegated ? .ascii.subtracting(known) : known)
                if isNegated { members.isOpen = true }
                return nil
            }
            let bytes = try readEscapedText(start)
            if bytes.count == 1 { return bytes[0] }
            members.characters.append(.literal(bytes, ignoresCase: false))
            return nil
        }
        place += 1
        let bytes = Array(character.utf8)
        if bytes.count == 1 { return bytes[0] }
        members.characters.append(.literal(bytes, ignoresCase: false))
        return nil
    }

    private mutating func readEscape() throws(PatternViolation) -> PatternNode {
        let start = place
        place += 1
        guard let letter = next else { throw PatternViolation(start, "'\\' escapes nothing") }
        if let assertion = Self.assertions[letter] {
            place += 1
            return .assertion(assertion)
        }
        if let known = Self.sets[Character(letter.lowercased())] {
            place += 1
            return letter.isUppercase ? .orBeyondASCII(.ascii.subtracting(known)) : .byte(known)
        }
        return .literal(try readEscapedText(start), ignoresCase: options.ignoresCase)
    }

    /// Reads what stands behind a backslash.
    private mutating func readEscapedText(
        _ start: Int
    ) throws(PatternViolation) -> [UInt8] {
        guard let letter = next else { throw PatternViolation(start, "'\\' escapes nothing") }
        place += 1
        if let control = Self.controls[letter] { return [control] }
        switch letter {
        case "x":
            guard let byte = bytes(fromHex: readDigits(2))?.first else {
                throw PatternViolation(start, "'\\x' needs two hexadecimal digits")
            }
            return [byte]
        case "u":
            let digits = readDigits(4)
            guard digits.count == 4, let value = UInt32(digits, radix: 16),
                let scalar = Unicode.Scalar(value)
            else { throw PatternViolation(start, "'\\u' needs four hexadecimal digits") }
            return Array(String(Character(scalar)).utf8)
        case "1"..."9":
            throw PatternViolation(start, "references to groups are not possible here")
        default:
            guard !letter.isLetter, !letter.isNumber else {
                throw PatternViolation(start, "unknown escape '\\\(letter)'")
            }
            return Array(letter.utf8)
        }
    }

    private mutating func readDigits(_ count: Int) -> String {
        let digits = text[place...].prefix(count).prefix { $0.isHexDigit }
        place += digits.count
        return String(digits)
    }

    private var next: Character? { place < text.count ? text[place] : nil }

    private func violation(_ message: String) -> PatternViolation {
        PatternViolation(place, message)
    }

    private mutating func accept(_ character: Character) -> Bool {
        guard next == character else { return false }
        place += 1
        return true
    }

    private mutating func readWhile(_ belongs: (Character) -> Bool) -> String {
        let start = place
        while let character = next, belongs(character) { place += 1 }
        return String(text[start..<place])
    }

    private static let sets: [Character: ByteSet] = ["d": .digits, "w": .word, "s": .spaces]
    private static let assertions: [Character: PatternNode.Assertion] = [
        "A": .textStart, "z": .textEnd, "Z": .textEnd, "b": .wordBoundary, "B": .noWordBoundary,
    ]
    private static let controls: [Character: UInt8] = [
        "n": 0x0A, "r": 0x0D, "t": 0x09, "f": 0x0C, "v": 0x0B, "0": 0,
    ]
}
