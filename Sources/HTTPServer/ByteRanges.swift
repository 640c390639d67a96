internal import Base
internal import HTTPModel

/// One element of a Range field, before the length is known (RFC 9110 §14.1.2).
package enum RangeSpecifier: Sendable, Equatable {
    /// `first-last`, both inclusive.
    case bounded(first: UInt64, last: UInt64)
    /// `first-`
    case from(UInt64)
    /// `-count`: the last `count` bytes.
    case suffix(UInt64)

    /// The bytes that this means of `length`; `nil` if there are none.
    fileprivate func range(of length: UInt64) -> Range<UInt64>? {
        switch self {
        case .bounded(let first, let last):
            guard first < length else { return nil }
            return first..<(last < length ? last + 1 : length)
        case .from(let first):
            return first < length ? first..<length : nil
        case .suffix(let count):
            guard count > 0, length > 0 else { return nil }
            return (count < length ? length - count : 0)..<length
        }
    }
}

/// What a Range field asks for, resolved against a representation's length.
package enum ByteRanges: Sendable, Equatable {
    /// The field is ignored: the whole representation is sent.
    case whole
    /// One range or several, in the order in which they were asked for; none is empty.
    case parts([Range<UInt64>])
    /// None of the ranges has a byte: 416.
    case unsatisfiable

    /// How many ranges one request may ask for; a longer list is ignored, which RFC 9110 §14.2
    /// permits, because every part costs a part's head.
    package static let limit = 64

    /// Resolves the values of all Range fields of a request against `length` bytes.
    ///
    /// A unit other than bytes, broken syntax, a last position before its first, a field that
    /// comes twice, and more than `limit` ranges are ignored. So are ranges that together ask for
    /// more bytes than there are: overlaps can then never make an answer larger than the whole.
    /// Ranges without a byte are left out as long as another one has some.
    package static func resolve(
        _ lines: [ArraySlice<UInt8>], length: UInt64
    ) -> ByteRanges {
        guard lines.count == 1, let specifiers = parse(lines[0]) else { return .whole }
        let ranges = specifiers.compactMap { $0.range(of: length) }
        guard !ranges.isEmpty else {
            // A suffix asks for what there is at the end, and of nothing that is everything.
            let asksForEnd = specifiers.contains {
                if case .suffix(let count) = $0 { count > 0 } else { false }
            }
            return asksForEnd ? .whole : .unsatisfiable
        }
        var rest = length
        for range in ranges {
            let count = range.upperBound - range.lowerBound
            guard count <= rest else { return .whole }
            rest -= count
        }
        return .parts(ranges)
    }

    /// The field's elements; `nil` if the field is to be ignored whatever the length is.
    package static func parse(_ value: ArraySlice<UInt8>) -> [RangeSpecifier]? {
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
