internal import Base
internal import Contents

extension BodyField {
    /// The names and values of a query or of a form, decoded, in their order.
    package static func parameters(_ text: ArraySlice<UInt8>) -> [BodyField] {
        Parameter.read(text).map { BodyField($0.name.text, $0.decoded.text) }
    }
}
