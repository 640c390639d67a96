internal import Base

/// Reads what is written as a form is: queries, and contents of `application/x-www-form-urlencoded`.
package enum FormReader {
    /// Names and values, decoded, in their order; a broken `%` stays as it is.
    package static func pairs(_ bytes: ArraySlice<UInt8>) -> [BodyField] {
        bytes.split(separator: 0x26).map { item in
            let name = item.prefix { $0 != 0x3D }
            return BodyField(decoded(name), decoded(item.dropFirst(name.count + 1)))
        }
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        PercentText.decoded(bytes, plusIsSpace: true).text
    }
}
