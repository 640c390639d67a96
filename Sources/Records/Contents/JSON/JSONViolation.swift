/// Where text stops being JSON.
package struct JSONViolation: Error, Equatable {
    package enum Kind: String {
        case unexpectedByte = "unexpected byte"
        case badEscape = "malformed escape"
        case controlCharacter = "control character in a string"
        case tooDeep = "nested too deep"
        case badScalar = "neither a number nor a word of JSON"
        case ended = "the input ends in the middle"
    }

    package let kind: Kind
    /// In bytes from the start of the input.
    package let offset: Int64

    package init(kind: Kind, offset: Int64) {
        self.kind = kind
        self.offset = offset
    }
}
