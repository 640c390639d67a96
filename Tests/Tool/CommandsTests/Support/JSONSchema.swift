import Foundation

/// A value of JSON, as schemas tell values apart.
enum JSONValue: Decodable, Equatable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try Self.value(of: container, as: Bool.self) {
            self = .boolean(value)
        } else if let value = try Self.value(of: container, as: Double.self) {
            self = .number(value)
        } else if let value = try Self.value(of: container, as: String.self) {
            self = .string(value)
        } else if let value = try Self.value(of: container, as: [JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// - Returns: `nil` if it is of another type.
    private static func value<Value: Decodable>(
        of container: any SingleValueDecodingContainer, as type: Value.Type
    ) throws -> Value? {
        do { return try container.decode(type) } catch DecodingError.typeMismatch { return nil }
    }

    subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The names of the types that it has.
    fileprivate var types: Set<String> {
        switch self {
        case .null: ["null"]
        case .boolean: ["boolean"]
        case .number(let value): value == value.rounded() ? ["number", "integer"] : ["number"]
        case .string: ["string"]
        case .array: ["array"]
        case .object: ["object"]
        }
    }

    fileprivate var strings: [String] {
        switch self {
        case .string(let text): [text]
        case .array(let values): values.flatMap(\.strings)
        default: []
        }
    }
}

/// The part of JSON Schema (2020-12) that our schemas use.
struct JSONSchema {
    let root: JSONValue

    /// What is wrong with a value, a line each.
    func violations(of value: JSONValue) -> [String] { violations(of: value, root, "") }

    private func violations(
        of value: JSONValue, _ schema: JSONValue, _ path: String
    ) -> [String] {
        var found: [String] = []
        if let wanted = schema["const"], wanted != value { found.append("\(path): not \(wanted)") }
        if let types = schema["type"], value.types.isDisjoint(with: types.strings) {
            found.append("\(path): \(value) is no \(types.strings)")
        }
        switch value {
        case .string(let text):
            if case .string(let pattern)? = schema["pattern"],
                text.range(of: pattern, options: .regularExpression) == nil
            {
                found.append("\(path): \(text) is not like \(pattern)")
            }
        case .array(let values):
            guard let items = schema["items"] else { break }
            for (index, item) in values.enumerated() {
                found += violations(of: item, items, "\(path)[\(index)]")
            }
        case .object(let members):
            for name in schema["required"]?.strings ?? [] where members[name] == nil {
                found.append("\(path).\(name) is missing")
            }
            for (name, member) in members {
                if let known = schema["properties"]?[name] {
                    found += violations(of: member, known, "\(path).\(name)")
                } else if schema["additionalProperties"] == .boolean(false) {
                    found.append("\(path).\(name) is in no schema")
                }
            }
        default: break
        }
        return found
    }
}
