internal import Base
internal import Redaction
internal import Replay

/// Tells two JSON values apart, path by path.
///
/// The elements of arrays are aligned by what identifies them, or else by a longest common
/// subsequence, so that one that was put in does not make all behind it differ.
struct JSONDifference {
    /// A value beside the same one as it may be shown.
    struct Pair {
        let value: JSONValue
        /// `nil` if it may not be shown.
        let shown: JSONValue?
    }

    let side: Difference.Side
    let limit: Int
    let isIgnored: (_ path: String) -> Bool
    private(set) var found: [Difference] = []

    init(side: Difference.Side, limit: Int, isIgnored: @escaping (String) -> Bool) {
        self.side = side
        self.limit = limit
        self.isIgnored = isIgnored
    }

    mutating func compare(_ left: Pair, _ right: Pair, at path: String = "$") {
        guard found.count <= limit, left.value != right.value, !isIgnored(path) else { return }
        switch (left.value, right.value) {
        case (.object(let before), .object(let after)):
            compare(members: before, after, left, right, at: path)
        case (.array(let before), .array(let after)):
            compare(elements: before, after, left, right, at: path)
        default: append(left, right, at: path)
        }
    }

    private mutating func compare(
        members before: [JSONValue.Member], _ after: [JSONValue.Member], _ left: Pair,
        _ right: Pair, at path: String
    ) {
        // Both are by rising name.
        var (index, other) = (0, 0)
        while index < before.count || other < after.count {
            let mine = index < before.count ? before[index].name : nil
            let theirs = other < after.count ? after[other].name : nil
            let isMine = mine != nil && (theirs == nil || (mine ?? "") <= (theirs ?? ""))
            let isTheirs = theirs != nil && (mine == nil || (theirs ?? "") <= (mine ?? ""))
            let inner = path + JSONPath.step((isMine ? mine : theirs) ?? "")
            let leftPair = isMine ? left.member(index, before) : nil
            let rightPair = isTheirs ? right.member(other, after) : nil
            compare(leftPair, rightPair, at: inner)
            index += isMine ? 1 : 0
            other += isTheirs ? 1 : 0
        }
    }

    /// Compares values of which one may be missing.
    private mutating func compare(_ left: Pair?, _ right: Pair?, at path: String) {
        if let left, let right { return compare(left, right, at: path) }
        guard !isIgnored(path) else { return }
        append(left, right, at: path)
    }

    private mutating func append(_ left: Pair?, _ right: Pair?, at path: String) {
        found.append(Difference(side, .json, path, from: left?.text, to: right?.text))
    }

    private mutating func compare(
        elements before: [JSONValue], _ after: [JSONValue], _ left: Pair, _ right: Pair,
        at path: String
    ) {
        let alignment = ArrayAlignment(before, after, path: path, isIgnored: isIgnored)
        for (index, other) in alignment.pairs {
            switch (index, other) {
            case (let index?, let other?):
                let inner = "\(path)[\(index)]"
                compare(left.element(index, before), right.element(other, after), at: inner)
            case (let index?, nil):
                compare(left.element(index, before), nil, at: "\(path)[\(index)]")
            case (nil, let other?):
                compare(nil, right.element(other, after), at: "\(path)[\(other)]")
            case (nil, nil): break
            }
        }
        if alignment.isReordered {
            found.append(
                Difference(side, .json, path, .moved, left: nil, right: nil, isNote: true))
        }
    }
}

/// Paths as the rules have them: `$.items[0].id`.
enum JSONPath {
    static func step(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || $0 == 0x5F || $0 == 0x2D || $0 >= 0x80
        }
        return isPlain && !name.isEmpty ? ".\(name)" : "[\(JSONText.string(name).line.text)]"
    }
}

extension JSONDifference.Pair {
    fileprivate func member(_ index: Int, _ members: [JSONValue.Member]) -> Self {
        guard case .object(let others) = shown, others.count == members.count,
            others[index].name == members[index].name
        else { return Self(value: members[index].value, shown: nil) }
        return Self(value: members[index].value, shown: others[index].value)
    }

    fileprivate func element(_ index: Int, _ elements: [JSONValue]) -> Self {
        guard case .array(let others) = shown, others.count == elements.count else {
            return Self(value: elements[index], shown: nil)
        }
        return Self(value: elements[index], shown: others[index])
    }

    fileprivate var text: String {
        shown.map { shownText($0.canonicalText) } ?? redactionMark.text
    }
}

extension JSONValue {
    fileprivate var canonicalText: [UInt8] {
        if case .number(let number) = self { return Array(number.utf8) }
        return canonical.line
    }
}
