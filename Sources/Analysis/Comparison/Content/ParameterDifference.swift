internal import Base
internal import Redaction
internal import Replay

/// Tells lists of parameters apart, by name: queries, forms, and other flat contents.
struct ParameterDifference {
    let side: Difference.Side
    let kind: Difference.Kind
    let renaming: Renaming

    /// - Parameters:
    ///   - left: as recorded, and as it may be shown: of one length, in one order.
    ///   - isIgnored: whether what has this name counts for nothing.
    func differences(
        _ left: [Parameter], _ right: [Parameter], isIgnored: (String) -> Bool
    ) -> [Difference] {
        let before = left.filter { !isIgnored($0.name) }
        let after = right.filter { !isIgnored($0.name) }
        guard before.map(\.pair) != after.map(\.pair) else { return [] }
        var others: [String: [Parameter]] = [:]
        for parameter in after { others[parameter.name, default: []].append(parameter) }
        var mine: [String: [Parameter]] = [:]
        var names: [String] = []
        for parameter in before {
            if mine[parameter.name] == nil { names.append(parameter.name) }
            mine[parameter.name, default: []].append(parameter)
        }
        for parameter in after where mine[parameter.name] == nil {
            names.append(parameter.name)
            mine[parameter.name] = []
        }
        let found = names.flatMap { differences(of: $0, mine[$0] ?? [], others[$0] ?? []) }
        guard found.isEmpty else { return found }
        return [Difference(side, kind, "order", .moved, left: nil, right: nil, isNote: true)]
    }

    private func differences(
        of name: String, _ left: [Parameter], _ right: [Parameter]
    ) -> [Difference] {
        (0..<max(left.count, right.count)).compactMap { index in
            let before = left.indices.contains(index) ? left[index] : nil
            let after = right.indices.contains(index) ? right[index] : nil
            guard before?.value != after?.value else { return nil }
            return Difference(
                side, kind, name, from: before.map { shownText($0.shown.utf8) },
                to: after.map { shownText($0.shown.utf8) },
                recorded: (before?.value.utf8.count ?? 0, after?.value.utf8.count ?? 0),
                isNote: before.map { agrees($0, after) } ?? false)
        }
    }
}

extension ParameterDifference {
    private func agrees(_ left: Parameter, _ right: Parameter?) -> Bool {
        guard let right else { return false }
        return renaming.agree(
            Array(left.value.utf8), Array(right.value.utf8), isID: ValueRule.namesOne(left.name))
    }
}

/// A name with its value, and how the value may be shown.
struct Parameter {
    let name: String
    let value: String
    let shown: String

    fileprivate var pair: [String] { [name, value] }

    /// Reads what is written as a query is.
    static func list(query: ArraySlice<UInt8>, withSecrets: Bool) -> [Parameter] {
        query.split(separator: UInt8(ascii: "&")).flatMap { item -> [Parameter] in
            let shown = withSecrets ? Array(item) : URLRedaction.redact(query: item)
            guard let pair = BodyField.parameters(item).first,
                let shownPair = BodyField.parameters(shown[...]).first
            else { return [] }
            return [Parameter(name: pair.path, value: pair.value, shown: shownPair.value)]
        }
    }

    /// Joins a content taken apart with what may be shown of it.
    static func list(_ form: BodyForm, shown: BodyForm?) -> [Parameter] {
        guard let shown, shown.fields.map(\.path) == form.fields.map(\.path) else {
            return form.fields.map {
                Parameter(name: $0.path, value: $0.value, shown: redactionMark.text)
            }
        }
        return zip(form.fields, shown.fields).map {
            Parameter(name: $0.path, value: $0.value, shown: $1.value)
        }
    }
}
