internal import Base
internal import HTTPModel

/// Writes recorded heads with other values.
enum HeadEdit {
    enum Change {
        case keep
        case drop
        case value([UInt8])
    }

    /// - Parameter change: says what becomes of a field, by its name in lower case and its value.
    /// - Returns: the head as it was if the new one would not be one.
    static func rewritten(
        _ head: ResponseHead, _ change: (String, ArraySlice<UInt8>) -> Change
    ) -> ResponseHead {
        let fields = head.fields
        guard let first = fields.slices.first else { return head }
        var bytes = Array(fields.raw[..<Int(first.nameStart)])
        var hasChanged = false
        for slice in fields.slices {
            let name = fields.name(slice)
            var value = Array(fields.value(slice))
            switch change(name.map(\.asciiLowercased).text, value[...]) {
            case .keep: break
            case .drop:
                hasChanged = true
                continue
            case .value(let new):
                hasChanged = true
                value = new
            }
            bytes += Array(name)
            bytes += [0x3A, 0x20] as [UInt8]
            bytes += value
            bytes += [0x0D, 0x0A] as [UInt8]
        }
        guard hasChanged else { return head }
        return RecordedHeads.response(bytes + [0x0D, 0x0A]) ?? head
    }

    // MARK: Dates

    /// Shifts the dates of a response by so many seconds.
    static func refreshed(_ head: ResponseHead, by seconds: Int64) -> ResponseHead {
        rewritten(head) { name, value in
            switch name {
            case "date", "expires", "last-modified", "retry-after":
                shifted(value, by: seconds).map(Change.value) ?? .keep
            case "set-cookie": cookie(value, by: seconds).map(Change.value) ?? .keep
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
