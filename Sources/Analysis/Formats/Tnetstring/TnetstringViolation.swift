/// Where bytes stop being tnetstrings.
struct TnetstringViolation: Error, Equatable {
    enum Kind: String {
        case badLength = "no length where one must be"
        case badType = "unknown type"
        case badScalar = "a number or a word that is none"
        case badKey = "a key that is no text"
        case overrun = "a value that is longer than what holds it"
        case tooDeep = "nested too deep"
        case tooMany = "too many values"
        case ended = "the input ends in the middle"
    }

    let kind: Kind
    /// In bytes from the start of the input.
    let offset: Int64
}
