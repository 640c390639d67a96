internal import Base
internal import HTTPModel

/// A cookie, or an attribute of one, as it came (RFC 6265 §4): its name and value, by their places.
package struct CookiePair {
    /// Empty for a cookie that has none.
    package let name: ArraySlice<UInt8>
    package let value: ArraySlice<UInt8>
    /// Whether there is a sign between the two.
    package let hasValue: Bool

    private init(_ piece: ArraySlice<UInt8>) {
        let name = piece.prefix { $0 != UInt8(ascii: "=") }
        self.name = name.trimmingWhitespace
        value = piece[name.endIndex...].dropFirst().trimmingWhitespace
        hasValue = name.endIndex < piece.endIndex
    }

    /// The cookies of a `Cookie`, without empty ones.
    package static func sent(_ field: ArraySlice<UInt8>) -> [CookiePair] {
        field.split(separator: UInt8(ascii: ";")).map(CookiePair.init).filter {
            !$0.name.isEmpty || !$0.value.isEmpty
        }
    }

    /// The cookie of a `Set-Cookie`, and its attributes.
    package static func set(
        _ field: ArraySlice<UInt8>
    ) -> (cookie: CookiePair, attributes: [CookiePair]) {
        let cookie = field.prefix { $0 != UInt8(ascii: ";") }
        return (CookiePair(cookie), sent(field[cookie.endIndex...]))
    }
}
