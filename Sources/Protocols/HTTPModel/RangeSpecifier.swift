internal import Base

/// One element of a Range field, before the length is known (RFC 9110 §14.1.2).
package enum RangeSpecifier: Sendable, Equatable {
    /// `first-last`, both inclusive.
    case bounded(first: UInt64, last: UInt64)
    /// `first-`
    case from(UInt64)
    /// `-count`: the last `count` bytes.
    case suffix(UInt64)
}

extension RangeSpecifier {
    /// How many ranges one request may ask for; a longer list is ignored, which RFC 9110 §14.2
    /// permits, because every part costs a part's head.
    package static let limit = 64

    /// The field's elements; `nil` if the field is to be ignored whatever the length is.
    package static func list(_ value: ArraySlice<UInt8>) -> [RangeSpecifier]? {
        let unit = value.prefix { $0 != UInt8(ascii: "=") }
        guard unit.equalsIgnoringCase("bytes"), unit.count < value.count else { return nil }
        var specifiers: [RangeSpecifier] = []
        let elements = value.dropFirst(unit.count + 1)
            .split(separator: 0x2C, maxSplits: elementLimit, omittingEmptySubsequences: false)
        guard elements.count <= elementLimit else { return nil }
        for element in elements {
            let text = element.trimmingWhitespace
            if text.isEmpty { continue }
            guard specifiers.count < limit, let specifier = specifier(text) else { return nil }
            specifiers.append(specifier)
        }
        return specifiers.isEmpty ? nil : specifiers
    }

    private static func specifier(_ text: ArraySlice<UInt8>) -> RangeSpecifier? {
        let digits = text.prefix { $0 != UInt8(ascii: "-") }
        guard digits.count < text.count else { return nil }
        let after = text.dropFirst(digits.count + 1)
        if digits.isEmpty { return position(after).map(RangeSpecifier.suffix) }
        guard let first = position(digits) else { return nil }
        if after.isEmpty { return .from(first) }
        guard let last = position(after), last >= first else { return nil }
        return .bounded(first: first, last: last)
    }

    /// Decimal digits as a number; one beyond 64 bits lies beyond every representation, so the
    /// largest number stands for it (RFC 9110 §14.1.2 warns of the overflow).
    private static func position(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { return nil }
        return decimal(digits) ?? .max
    }

    /// With the empty elements, of which a reasonable number is skipped (RFC 9110 §5.6.1.2).
    private static let elementLimit = 128
}
