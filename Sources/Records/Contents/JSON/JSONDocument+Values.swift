internal import Base

/// What values mean: numbers by what they are worth, white space and the order of members without
/// meaning.
extension JSONDocument {
    /// Whether two values are spelled the same, and so are equal.
    package func isSpelledAlike(_ place: Int, _ other: JSONDocument, _ otherPlace: Int) -> Bool {
        let (mine, theirs) = (self[place].range, other[otherPlace].range)
        guard mine.count == theirs.count else { return false }
        let (before, after) = (bytes.span, other.bytes.span)
        let distance = theirs.lowerBound - mine.lowerBound
        for index in mine where before[index] != after[index + distance] { return false }
        return true
    }

    package func isEqual(_ place: Int, _ other: JSONDocument, _ otherPlace: Int) -> Bool {
        if isSpelledAlike(place, other, otherPlace) { return true }
        let (mine, theirs) = (self[place], other[otherPlace])
        guard mine.kind == theirs.kind else { return false }
        switch mine.kind {
        case .null, .true, .false: return true
        case .number, .string:
            if mine.isPlain, theirs.isPlain { return false }
            if mine.kind == .number {
                return JSONNumber.areEqual(bytes[mine.range], other.bytes[theirs.range])
            }
            return key(of: place) == other.key(of: otherPlace)
        case .array:
            let (before, after) = (elements(of: place), other.elements(of: otherPlace))
            return before.count == after.count
                && zip(before, after).allSatisfy { isEqual($0, other, $1) }
        case .object:
            let (before, after) = (members(of: place), other.members(of: otherPlace))
            return before.count == after.count
                && zip(before, after).allSatisfy {
                    key(of: $0.name) == other.key(of: $1.name) && isEqual($0.value, other, $1.value)
                }
        }
    }

    /// Adds what equal values have in common.
    package func hash(_ place: Int, into hasher: inout Hasher) {
        let kind = self[place].kind
        hasher.combine(kind)
        switch kind {
        case .null, .true, .false: break
        case .number, .string: hash(key: place, into: &hasher)
        case .array:
            let elements = elements(of: place)
            hasher.combine(elements.count)
            for element in elements { hash(element, into: &hasher) }
        case .object:
            let members = members(of: place)
            hasher.combine(members.count)
            for member in members {
                hash(key: member.name, into: &hasher)
                hash(member.value, into: &hasher)
            }
        }
    }

    private func hash(key place: Int, into hasher: inout Hasher) {
        let key = key(of: place)
        hasher.combine(key.count)
        unsafe key.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// Appends the canonical form: no white space, members by name.
    package func append(_ place: Int, to text: inout [UInt8]) {
        let node = self[place]
        switch node.kind {
        case .string: append(string: place, to: &text)
        case .null, .true, .false, .number:
            text += node.isPlain ? bytes[node.range] : key(of: place)
        case .array:
            text.append(UInt8(ascii: "["))
            for (index, element) in elements(of: place).enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                append(element, to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .object:
            text.append(UInt8(ascii: "{"))
            for (index, member) in members(of: place).enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                append(string: member.name, to: &text)
                text.append(UInt8(ascii: ":"))
                append(member.value, to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
    }

    private func append(string place: Int, to text: inout [UInt8]) {
        let node = self[place]
        text += node.isPlain ? bytes[node.range] : JSONText.bytes(Array(key(of: place))).line[...]
    }

    /// A value as it is shown: a text in quotes, so that `"1"` is not `1`.
    package func shown(_ place: Int) -> String {
        var text: [UInt8] = []
        append(place, to: &text)
        return text.text
    }

    /// Calls `visit` with the place of each value that holds no other, and its path:
    /// `$.items[0].id`.
    ///
    /// - Parameter room: how many bytes the paths on the way may have together: all that is within
    ///   a long name has it in its path.
    /// - Returns: whether there was room for all.
    package func leaves(
        of place: Int = root, at path: String = "$", room: inout Int,
        _ visit: (_ path: String, Int) -> Void
    ) -> Bool {
        room -= path.utf8.count
        guard room >= 0 else { return false }
        switch self[place].kind {
        case .array where self[place].next > place + 1:
            for (index, element) in elements(of: place).enumerated() {
                let inner = "\(path)[\(index)]"
                guard leaves(of: element, at: inner, room: &room, visit) else { return false }
            }
        case .object where self[place].next > place + 1:
            for member in members(of: place) {
                let inner = path + JSONPath.step(key(of: member.name)).text
                guard leaves(of: member.value, at: inner, room: &room, visit) else { return false }
            }
        default: visit(path, place)
        }
        return true
    }

    /// In bytes: what the paths of one content may have together; most have a few for each of the
    /// content's.
    package static let pathLimit = 16 << 20
}

/// Paths as the rules have them: `$.items[0].id`.
package enum JSONPath {
    /// What a member's name adds to a path.
    package static func step(_ name: ArraySlice<UInt8>) -> [UInt8] {
        let isPlain = name.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_")
                || $0 == UInt8(ascii: "-") || $0 >= 0x80
        }
        if isPlain, !name.isEmpty { return [UInt8(ascii: ".")] + name }
        let open = [UInt8(ascii: "[")]
        return open + JSONText.bytes(Array(name)).line + [UInt8(ascii: "]")]
    }
}
