internal import Base

/// Masks the secrets of an `application/x-www-form-urlencoded` content.
///
/// Only `&` separates (URL Standard §5.1), so that a semicolon in a password does not show the rest
/// of it. What no client would send unencoded makes it no form: a field that is none has no name
/// that tells whether it is secret.
enum FormRedaction {
    /// Returns `nil` if the content is no form.
    ///
    /// - Parameter isWhole: false if the content was cut; its last value is masked then.
    static func redact(_ content: [UInt8], isWhole: Bool) -> [UInt8]? {
        // Some clients end a form with a line end.
        let end = content.lastIndex { $0 != 0x0D && $0 != 0x0A }.map { $0 + 1 } ?? 0
        var result: [UInt8] = []
        let fields = content[..<end].split(
            separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        for (index, field) in fields.enumerated() {
            if index > 0 { result.append(UInt8(ascii: "&")) }
            let isCut = !isWhole && index == fields.count - 1
            guard let shown = redact(field: field, isCut: isCut) else { return nil }
            result += shown
        }
        return result + content[end...]
    }

    private static func redact(field: ArraySlice<UInt8>, isCut: Bool) -> [UInt8]? {
        let name = field.prefix { $0 != UInt8(ascii: "=") }
        guard name.allSatisfy(isNameByte) else { return nil }
        guard name.endIndex < field.endIndex else { return URLRedaction.redact(query: field) }
        let value = field[(name.endIndex + 1)...]
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        if isCut, !value.isEmpty { return field[...name.endIndex] + redactionMark }
        return URLRedaction.redact(query: field)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != 0x7F && !unencodedSigns.contains(byte)
    }

    private static let unencodedSigns = Set("\"<>{}`\\:".utf8)
}
