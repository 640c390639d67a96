extension Timestamp {
    /// ISO 8601 in UTC, with microseconds where there are any.
    package var iso8601: String {
        let text = rfc3339
        let rest = Int((microseconds % 1000 + 1000) % 1000)
        return rest == 0 ? text : text.dropLast() + padded(rest, 3) + "Z"
    }

    /// Reads a date and time with a zone as HAR and feeds have it: `2026-03-09T07:05:01.25+01:00`; a missing
    /// zone is UTC.
    package init?(iso8601 text: [UInt8]) {
        var cursor = DigitCursor(text[...])
        guard let year = cursor.number(4), cursor.pass("-"), let month = cursor.number(2),
            cursor.pass("-"), let day = cursor.number(2), cursor.pass("T") || cursor.pass(" "),
            let hour = cursor.number(2), cursor.pass(":"), let minute = cursor.number(2),
            1...12 ~= month, 1...31 ~= day, hour < 25, minute < 60
        else { return nil }
        let second = cursor.pass(":") ? cursor.number(2) : 0
        guard let second, second <= 60 else { return nil }
        let fraction = cursor.pass(".") || cursor.pass(",") ? cursor.microseconds() : 0
        guard let offset = cursor.zoneMinutes() else { return nil }
        let seconds = CalendarTime.secondsSinceEpoch(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        self.init(
            microseconds: (seconds - Int64(offset) * 60) * 1_000_000 + Int64(fraction))
    }
}

/// Reads numbers of a fixed width.
private struct DigitCursor {
    private var rest: ArraySlice<UInt8>

    init(_ text: ArraySlice<UInt8>) { rest = text }

    mutating func number(_ width: Int) -> Int? {
        let digits = rest.prefix(width)
        guard digits.count == width, digits.allSatisfy(\.isASCIIDigit) else { return nil }
        rest = rest.dropFirst(width)
        return Int(digits.text)
    }

    mutating func pass(_ sign: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: sign) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func microseconds() -> Int {
        let digits = rest.prefix(while: \.isASCIIDigit)
        rest = rest[digits.endIndex...]
        let six = digits.prefix(6) + [UInt8](repeating: 0x30, count: max(0, 6 - digits.count))
        return Int(six.text) ?? 0
    }

    /// How far the zone is ahead of UTC; `nil` for what is none.
    mutating func zoneMinutes() -> Int? {
        if rest.isEmpty || pass("Z") || pass("z") { return rest.isEmpty ? 0 : nil }
        let isBehind = pass("-")
        guard isBehind || pass("+"), let hours = number(2) else { return nil }
        _ = pass(":")
        guard let minutes = rest.isEmpty ? 0 : number(2), rest.isEmpty else { return nil }
        return (isBehind ? -1 : 1) * (hours * 60 + minutes)
    }
}
