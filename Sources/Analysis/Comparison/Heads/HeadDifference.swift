internal import Base
internal import HTTPModel
internal import Redaction
internal import Replay

/// Tells the fields of two heads apart, name by name; their order is a note.
struct HeadDifference {
    let side: Difference.Side
    let kind: Difference.Kind
    let configuration: ComparisonConfiguration
    /// The sizes of the contents, where they tell that a length follows from its content.
    var contentSizes: (left: Int64, right: Int64)?

    func differences(_ left: ComparedFields, _ right: ComparedFields) -> [Difference] {
        let (before, after) = (counted(left), counted(right))
        if let found = differencesInOneOrder(before, after) { return found }
        var names: [String] = []
        var seen: Set<String> = []
        for line in before + after where seen.insert(line.name).inserted { names.append(line.name) }
        let (leftGroups, rightGroups) = (grouped(before), grouped(after))
        var found: [Difference] = []
        for name in names {
            found += differences(of: name, leftGroups[name] ?? [], rightGroups[name] ?? [])
        }
        if found.isEmpty, before.map(\.name) != after.map(\.name) {
            found.append(
                Difference(side, kind, "order", .moved, left: nil, right: nil, isNote: true))
        }
        return found
    }

    /// What most heads need: the same fields in the same order, each once; `nil` for others.
    private func differencesInOneOrder(
        _ left: [ComparedFields.Line], _ right: [ComparedFields.Line]
    ) -> [Difference]? {
        guard left.count == right.count, left.count < 16,
            zip(left, right).allSatisfy({ $0.name == $1.name })
        else { return nil }
        for index in left.indices {
            guard !left[..<index].contains(where: { $0.name == left[index].name }) else {
                return nil
            }
        }
        return zip(left, right).flatMap { differences(of: $0.name, [$0.value], [$1.value]) }
    }

    private func counted(_ fields: ComparedFields) -> [ComparedFields.Line] {
        fields.lines.filter { line in
            kind == .trailer
                ? !configuration.rules.ignores(side.rule, .trailer(line.name))
                : !configuration.ignoresField(side.rule, line.name)
        }
    }

    private func grouped(_ lines: [ComparedFields.Line]) -> [String: [[UInt8]]] {
        var groups: [String: [[UInt8]]] = [:]
        for line in lines { groups[line.name, default: []].append(line.value) }
        return groups
    }

    private func differences(
        of name: String, _ left: [[UInt8]], _ right: [[UInt8]]
    ) -> [Difference] {
        guard left != right else { return [] }
        var (before, after) = (left, right)
        for value in left {
            guard let place = after.firstIndex(of: value) else { continue }
            after.remove(at: place)
            if let other = before.firstIndex(of: value) { before.remove(at: other) }
        }
        if name == "content-type", before.count == 1, after.count == 1,
            Self.differOnlyInBoundary(before[0], after[0])
        {
            return []
        }
        guard !(before.isEmpty && after.isEmpty) else {
            return [Difference(side, kind, name, .moved, left: nil, right: nil, isNote: true)]
        }
        let isNote = isFraming(name, left, right)
        return (0..<max(before.count, after.count)).map { index in
            let mine = before.indices.contains(index) ? before[index] : nil
            let theirs = after.indices.contains(index) ? after[index] : nil
            let agrees = mine.map { mine in
                theirs.map { configuration.renaming.agree(mine, $0) } ?? false
            }
            return Difference(
                side, kind, name, from: mine.map { shown(name, $0) },
                to: theirs.map { shown(name, $0) },
                recorded: (mine?.count ?? 0, theirs?.count ?? 0),
                isNote: isNote || agrees ?? false)
        }
    }

    /// Whether a field only says how the message is framed or carried, hop by hop.
    private func isFraming(_ name: String, _ left: [[UInt8]], _ right: [[UInt8]]) -> Bool {
        if name == "content-length", let sizes = contentSizes {
            return Self.follows(left, from: sizes.left) && Self.follows(right, from: sizes.right)
        }
        return PassingFields.hop.contains(name)
    }

    private static func follows(_ values: [[UInt8]], from size: Int64) -> Bool {
        values.allSatisfy { $0.text == String(size) }
    }

    /// A client makes up a boundary for each content.
    private static func differOnlyInBoundary(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        let (before, after) = (ParameterizedValue(left[...]), ParameterizedValue(right[...]))
        return before.text == after.text && before.text.hasPrefix("multipart/")
            && before["boundary"] != nil && after["boundary"] != nil
    }

    private func shown(_ name: String, _ value: [UInt8]) -> String {
        guard !configuration.withSecrets else { return shownText(value) }
        let start = Array((name + ": ").utf8)
        let line = HeadRedaction.redact(trailers: start + value)
        return shownText(line.dropFirst(start.count))
    }
}
