/// One value of a message, with where it stands and what was undone to see it.
struct MessageField {
    let container: Container
    /// Empty where the container has no names.
    let name: [UInt8]
    /// Where it stands inside of a structured value; `*` is an element of an array.
    var pointer: [[UInt8]] = []
    var steps: [DecodeStep] = []
    let value: [UInt8]
    /// False for `true`, `false` and `null`.
    var isScalar = true
    /// Whether it stands in a part that was uploaded as a file.
    var isInFile = false

    /// The name that says what the value is.
    var key: [UInt8] { pointer.last { $0 != Self.anyElement } ?? name }

    static let anyElement = Array("*".utf8)
    /// How many bytes of a value are kept.
    static let valueLimit = 8192
}
