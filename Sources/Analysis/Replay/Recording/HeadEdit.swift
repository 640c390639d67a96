internal import Base
internal import HTTPCodecs
internal import HTTPModel

/// Writes recorded heads with other values.
enum HeadEdit {
    /// - Parameter change: says what becomes of a field, by its name in lower case and its value.
    static func rewritten(
        _ head: ResponseHead, _ change: (String, ArraySlice<UInt8>) -> FieldChange
    ) -> ResponseHead {
        head.rewritten { fields, slice in
            change(fields.name(slice).map(\.asciiLowercased).text, fields.value(slice))
        } ?? head
    }

    // MARK: Dates

    /// Shifts the dates of a response by so many seconds.
    static func refreshed(_ head: ResponseHead, by seconds: Int64) -> ResponseHead {
        rewritten(head) { name, value in
            switch name {
            case "date", "expires", "last-modified", "retry-after":
                shifted(value, by: seconds).map(FieldChange.value) ?? .keep
            case "set-cookie": cookie(value, by: seconds).map(FieldChange.value) ?? .keep
            default: .keep
            }
        }
    }

    private static func shifted(_ value: ArraySlice<UInt8>, by seconds: Int64) -> [UInt8]? {
        guard let date = HTTPDate(value, now: HTTPDate(.now())) else { return nil }
        let (sum, overflow) = date.seconds.addingReportingOverflow(seconds)
        return overflow ? nil : [UInt8](HTTPDate(seconds: sum).text.utf8)
    }

    /// The Expires of a cookie is written with dashes by many (RFC 6265 §5.1.1); Max-Age needs
    /// nothing, since it counts from now.
    private static func cookie(_ value: ArraySlice<UInt8>, by seconds: Int64) -> [UInt8]? {
        let parts = value.split(separator: 0x3B, omittingEmptySubsequences: false)
        var hasChanged = false
        let shifted = parts.map { part -> ArraySlice<UInt8> in
            let bare = part.trimmingWhitespace
            guard bare.prefix(8).equalsIgnoringCase("expires=") else { return part }
            let date = bare.dropFirst(8).map { $0 == 0x2D ? 0x20 : $0 }
            guard let new = Self.shifted(date[...], by: seconds) else { return part }
            hasChanged = true
            return (Array(" Expires=".utf8) + new)[...]
        }
        return hasChanged ? Array(shifted.joined(separator: [0x3B])) : nil
    }
}
