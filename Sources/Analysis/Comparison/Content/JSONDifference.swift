internal import Base
internal import Contents
internal import Redaction
internal import Replay

/// Tells two JSON texts apart, path by path.
///
/// The elements of arrays are aligned by what identifies them, or else by a longest common
/// subsequence, so that one that was put in does not make all behind it differ. What is spelled
/// alike is passed over, so that the work beyond reading grows with what differs.
struct JSONDifference {
    private let left: JSONDocument
    private let right: JSONDocument
    private let side: Difference.Side
    private let configuration: ComparisonConfiguration
    private let hasRules: Bool
    private var path = [UInt8(ascii: "$")]
    private var hasIgnored = false
    private var found: [Difference] = []
    private var noteCount = 0
    /// How many bytes of paths are still held against rules: all that is within a long name has it
    /// in its path. What is beyond counts, whatever the rules say.
    private var pathRoom = JSONDocument.pathLimit

    /// Everything that differs; a note if only the layout does.
    static func differences(
        _ left: JSONDocument, _ right: JSONDocument, side: Difference.Side,
        configuration: ComparisonConfiguration
    ) -> [Difference] {
        var difference = JSONDifference(left, right, side, configuration)
        difference.compare(JSONDocument.root, JSONDocument.root, isSecret: false)
        if difference.found.isEmpty, !difference.hasIgnored {
            difference.note("layout", .changed)
        }
        return difference.found
    }

    private init(
        _ left: JSONDocument, _ right: JSONDocument, _ side: Difference.Side,
        _ configuration: ComparisonConfiguration
    ) {
        self.left = left
        self.right = right
        self.side = side
        self.configuration = configuration
        hasRules = configuration.rules.rules.contains {
            if case .body = $0.part { true } else { false }
        }
    }

    /// - Parameter isSecret: whether a name on the way to these values is that of a secret.
    private mutating func compare(_ mine: Int, _ theirs: Int, isSecret: Bool) {
        guard !isFull, !left.isSpelledAlike(mine, right, theirs) else { return }
        if hasRules {
            guard !left.isEqual(mine, right, theirs), !isIgnored() else { return }
        }
        switch (left[mine].kind, right[theirs].kind) {
        case (.object, .object): compare(membersOf: mine, theirs, isSecret: isSecret)
        case (.array, .array): compare(elementsOf: mine, theirs, isSecret: isSecret)
        default:
            if !left.isEqual(mine, right, theirs) { append(mine, theirs, isSecret: isSecret) }
        }
    }

    private mutating func compare(membersOf mine: Int, _ theirs: Int, isSecret: Bool) {
        for pair in MemberAlignment(left, mine, right, theirs).pairs where !isFull {
            let isSecret = isSecret || hides(pair.name)
            step(JSONPath.step(pair.name)) { $0.compare(pair.left, pair.right, isSecret) }
        }
    }

    private mutating func compare(elementsOf mine: Int, _ theirs: Int, isSecret: Bool) {
        let before = left.elements(of: mine)
        let after = right.elements(of: theirs)
        let alignment = ArrayAlignment((left, before), (right, after)) { name in
            hasRules && ignores(path + "[0].\(name)".utf8)
        }
        for (index, other) in alignment.pairs where !isFull {
            step(Array("[\(index ?? other ?? 0)]".utf8)) {
                $0.compare(index.map { before[$0] }, other.map { after[$0] }, isSecret)
            }
        }
        if alignment.isReordered { note(path.text, .moved) }
    }

    /// Compares values of which one may be missing.
    private mutating func compare(_ mine: Int?, _ theirs: Int?, _ isSecret: Bool) {
        if let mine, let theirs { return compare(mine, theirs, isSecret: isSecret) }
        if !isIgnored() { append(mine, theirs, isSecret: isSecret) }
    }

    private mutating func step(_ step: [UInt8], _ body: (inout Self) -> Void) {
        path += step
        body(&self)
        path.removeLast(step.count)
    }

    private mutating func isIgnored() -> Bool {
        guard hasRules, ignores(path) else { return false }
        hasIgnored = true
        return true
    }

    private mutating func ignores(_ path: [UInt8]) -> Bool {
        pathRoom -= path.count
        guard pathRoom >= 0 else { return false }
        return configuration.rules.ignores(side.rule, .body(path.text))
    }

    // MARK: What is found

    /// Notes do not keep what counts from being told.
    private var isFull: Bool { found.count - noteCount > configuration.differenceLimit }

    private mutating func append(_ mine: Int?, _ theirs: Int?, isSecret: Bool) {
        let agrees = agree(mine, theirs)
        if agrees {
            guard noteCount <= configuration.differenceLimit else { return }
            noteCount += 1
        }
        found.append(
            Difference(
                side, .json, path.text, from: mine.map { shown(left, $0, isSecret) },
                to: theirs.map { shown(right, $0, isSecret) },
                recorded: (
                    mine.map { left.spelling(of: $0).count } ?? 0,
                    theirs.map { right.spelling(of: $0).count } ?? 0
                ), isNote: agrees))
    }

    /// Whether two values are the same but for what the origins made up.
    private func agree(_ mine: Int?, _ theirs: Int?) -> Bool {
        guard let mine, let theirs else { return false }
        return configuration.renaming.agree(
            Array(left.spelling(of: mine)), Array(right.spelling(of: theirs)),
            isID: ValueRule.namesOne(ValuePlace.json(path.text).name))
    }

    private mutating func note(_ path: String, _ change: Difference.Change) {
        guard noteCount <= configuration.differenceLimit else { return }
        noteCount += 1
        found.append(Difference(side, .json, path, change, left: nil, right: nil, isNote: true))
    }

    private func hides(_ name: ArraySlice<UInt8>) -> Bool {
        !configuration.withSecrets && SecretName.isParameter(name)
    }

    private static func isHarmless(_ kind: JSONDocument.Kind, _ isSecret: Bool) -> Bool {
        switch kind {
        case .null, .true, .false: true
        case .number: !isSecret
        case .string, .array, .object: false
        }
    }

    /// A value as it may be shown.
    private func shown(_ document: JSONDocument, _ place: Int, _ isSecret: Bool) -> String {
        var text: [UInt8] = []
        if configuration.withSecrets || Self.isHarmless(document[place].kind, isSecret) {
            document.append(place, to: &text)
            return shownText(text)
        }
        let spelling = Array(document.spelling(of: place))
        guard let redacted = ContentRedaction.redact(json: spelling, isSecret: isSecret) else {
            return redactionMark.text
        }
        if redacted == spelling {
            document.append(place, to: &text)
        } else if let document = JSONDocument(redacted) {
            document.append(JSONDocument.root, to: &text)
        } else {
            text = redactionMark
        }
        return shownText(text)
    }
}
