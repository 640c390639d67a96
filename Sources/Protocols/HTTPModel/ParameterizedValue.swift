internal import Base

/// A field value with parameters, such as that of `Content-Type` (RFC 9110 §5.6.6), malformed ones
/// too, as far as they go.
package struct ParameterizedValue {
    /// What is before the parameters, in lower case.
    package let text: String
    private let parameters: [(name: String, value: [UInt8])]

    package init(_ field: ArraySlice<UInt8>) {
        let pieces = Self.pieces(of: field)
        text = (pieces.first ?? []).trimmingWhitespace.map(\.asciiLowercased).text
        parameters = pieces.dropFirst().compactMap { piece in
            guard let equals = piece.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            return (
                piece[..<equals].trimmingWhitespace.map(\.asciiLowercased).text,
                Self.unquoted(piece[(equals + 1)...].trimmingWhitespace)
            )
        }
    }

    /// The value of the first parameter of this name, which is in lower case.
    package subscript(name: String) -> [UInt8]? {
        parameters.first { $0.name == name }?.value
    }

    /// Splits at semicolons that are not quoted.
    private static func pieces(of field: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = field.startIndex
        var isQuoted = false
        var isEscaped = false
        for (index, byte) in zip(field.indices, field) {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = isQuoted
            } else if byte == UInt8(ascii: ";"), !isQuoted {
                pieces.append(field[start..<index])
                start = index + 1
            }
        }
        return pieces + [field[start...]]
    }

    private static func unquoted(_ value: ArraySlice<UInt8>) -> [UInt8] {
        guard value.first == UInt8(ascii: "\"") else { return Array(value) }
        var result: [UInt8] = []
        var isEscaped = false
        for byte in value.dropFirst() {
            if !isEscaped, byte == UInt8(ascii: "\"") { break }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            if !isEscaped { result.append(byte) }
        }
        return result
    }
}
