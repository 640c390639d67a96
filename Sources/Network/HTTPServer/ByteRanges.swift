internal import Base
internal import HTTPModel

/// What a Range field asks for, resolved against a representation's length.
package enum ByteRanges: Sendable, Equatable {
    /// The field is ignored: the whole representation is sent.
    case whole
    /// One range or several, in the order in which they were asked for; none is empty.
    case parts([Range<UInt64>])
    /// None of the ranges has a byte: 416.
    case unsatisfiable

    /// Resolves the values of all Range fields of a request against `length` bytes.
    ///
    /// A unit other than bytes, broken syntax, a last position before its first, a field that
    /// comes twice, and more than `RangeSpecifier.limit` ranges are ignored. So are ranges that
    /// together ask for more bytes than there are: overlaps can then never make an answer larger
    /// than the whole. Ranges without a byte are left out as long as another one has some.
    package static func resolve(
        _ lines: [ArraySlice<UInt8>], length: UInt64
    ) -> ByteRanges {
        guard lines.count == 1, let specifiers = RangeSpecifier.list(lines[0]) else {
            return .whole
        }
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
}

extension RangeSpecifier {
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
