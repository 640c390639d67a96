internal import Base

/// What a Content-Range field says (RFC 9110 §14.4); always consistent in itself.
package enum ContentRange: Sendable, Equatable {
    /// The bytes that are enclosed, at least one; `total` is `nil` where it is not known.
    case part(Range<UInt64>, total: UInt64?)
    /// None is: the whole has `total` bytes.
    case unsatisfied(total: UInt64)
    /// `bytes */*`, which is no valid field: how some uploads ask what has arrived.
    case unknown

    package init(_ value: ArraySlice<UInt8>) throws(ContentRangeViolation) {
        let unit = value.prefix { $0 != 0x20 && $0 != UInt8(ascii: "=") }
        guard unit.count < value.count else { throw .malformed }
        guard unit.equalsIgnoringCase("bytes") else { throw .otherUnit }
        let rest = value.dropFirst(unit.count + 1).trimmingWhitespace
        guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { throw .malformed }
        let total = try Self.total(rest[(slash + 1)...])
        let positions = rest[..<slash]
        if positions.elementsEqual([UInt8(ascii: "*")]) {
            self = total.map(ContentRange.unsatisfied(total:)) ?? .unknown
            return
        }
        guard let dash = positions.firstIndex(of: UInt8(ascii: "-")) else { throw .malformed }
        let first = try Self.position(positions[..<dash])
        let last = try Self.position(positions[(dash + 1)...])
        guard first <= last else { throw .backwards }
        if let total, last >= total { throw .behindEnd }
        self = .part(first..<last + 1, total: total)
    }

    /// As a field has it.
    package var text: String {
        switch self {
        case .part(let range, let total):
            "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total.map(String.init) ?? "*")"
        case .unsatisfied(let total): "bytes */\(total)"
        case .unknown: "bytes */*"
        }
    }

    private static func total(
        _ text: ArraySlice<UInt8>
    ) throws(ContentRangeViolation) -> UInt64? {
        text.elementsEqual([UInt8(ascii: "*")]) ? nil : try position(text)
    }

    private static func position(
        _ digits: ArraySlice<UInt8>
    ) throws(ContentRangeViolation) -> UInt64 {
        guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { throw .malformed }
        guard let number = decimal(digits), number < Self.limit else { throw .tooLarge }
        return number
    }

    /// Sizes are counted with 63 bits.
    private static let limit = UInt64(Int64.max)
}

/// What is wrong with a Content-Range; the raw values are shown.
package enum ContentRangeViolation: String, Error, Sendable {
    case malformed
    case otherUnit = "another unit than bytes"
    /// The last position lies before the first.
    case backwards
    /// The last position lies behind the end.
    case behindEnd = "behind the end"
    /// A number is beyond 63 bits.
    case tooLarge = "too large"
}
