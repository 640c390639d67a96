internal import Base
internal import HTTPModel

/// What Authorization holds behind its scheme: `name=value` with commas between, values quoted or
/// not (RFC 9110 §11.2).
struct AuthenticationParameters {
    private var values: [String: [UInt8]] = [:]

    /// - Returns: `nil` for another scheme, broken syntax, a name that comes twice, and more
    ///   parameters than any scheme has.
    init?(_ field: ArraySlice<UInt8>, scheme: StaticString) {
        let count = scheme.utf8CodeUnitCount
        guard field.prefix(count).equalsIgnoringCase(scheme),
            field.dropFirst(count).first == 0x20
        else { return nil }
        var rest = field.dropFirst(count).trimmingWhitespace
        while !rest.isEmpty {
            guard let (name, value) = Self.take(from: &rest), values.count < Self.limit,
                values.updateValue(value, forKey: name) == nil
            else { return nil }
            guard rest.isEmpty || rest.popFirst() == UInt8(ascii: ",") else { return nil }
            rest = rest.trimmingWhitespace
        }
    }

    subscript(name: String) -> [UInt8]? { values[name] }

    private static func take(from rest: inout ArraySlice<UInt8>) -> (String, [UInt8])? {
        guard let sign = rest.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = rest[..<sign].trimmingWhitespace.map(\.asciiLowercased).text
        rest = rest[(sign + 1)...].trimmingWhitespace
        var value: [UInt8] = []
        if rest.first == quote {
            rest.removeFirst()
            while let byte = rest.popFirst(), byte != quote {
                guard byte == UInt8(ascii: "\\") else {
                    value.append(byte)
                    continue
                }
                guard let escaped = rest.popFirst() else { return nil }
                value.append(escaped)
            }
            rest = rest.trimmingWhitespace
        } else {
            let token = rest.prefix { $0 != UInt8(ascii: ",") }
            value = [UInt8](token.trimmingWhitespace)
            rest = rest.dropFirst(token.count)
        }
        return name.isEmpty ? nil : (name, value)
    }

    private static let quote = UInt8(ascii: "\"")
    private static let limit = 32
}
