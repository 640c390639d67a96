/// Where text stops being JSON.
struct JSONViolation: Error, Equatable {
    enum Kind: String {
        case unexpectedByte = "unexpected byte"
        case badEscape = "malformed escape"
        case controlCharacter = "control character in a string"
        case tooDeep = "nested too deep"
        case badScalar = "neither a number nor a word of JSON"
        case ended = "the input ends in the middle"
    }

    let kind: Kind
    /// In bytes from the start of the input.
    let offset: Int64
}
