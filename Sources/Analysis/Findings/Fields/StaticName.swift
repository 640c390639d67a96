/// A name in lower case as bytes, written as a literal.
struct StaticName: ExpressibleByStringLiteral {
    let bytes: [UInt8]

    init(stringLiteral value: String) { bytes = Array(value.utf8) }
}
