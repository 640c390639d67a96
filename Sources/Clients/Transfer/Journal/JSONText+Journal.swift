internal import Base

extension JSONText {
    /// An object without the members that are null.
    static func sparse(_ members: KeyValuePairs<String, JSONText>) -> JSONText {
        .object(members.compactMap { $0.value == .null ? nil : Member($0.key, $0.value) })
    }

    static func texts(_ texts: [String]) -> JSONText { .array(texts.map { .string($0) }) }
}
