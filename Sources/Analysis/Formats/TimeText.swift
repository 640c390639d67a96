internal import Base
internal import HTTPModel

extension Timestamp {
    /// ISO 8601 in UTC, with microseconds where there are any.
    var iso8601: String {
        let text = rfc3339
        let rest = Int((microseconds % 1000 + 1000) % 1000)
        return rest == 0 ? text : text.dropLast() + padded(rest, 3) + "Z"
    }

    /// Reads a date and time with a zone as HAR has it: `2026-03-09T07:05:01.25+01:00`; a missing
    /// zone is UTC.
    init?(iso8601 text: [UInt8]) {
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

    /// Reads the date of a cookie's `Expires`, in any of the shapes that are about
    /// (RFC 6265 §5.1.1).
    init?(cookieDate text: ArraySlice<UInt8>) {
        var (day, month, year): (Int?, Int?, Int?) = (nil, nil, nil)
        var time: [Int]?
        let isSeparator: (UInt8) -> Bool = {
            !($0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: ":") || $0 >= 0x7F)
        }
        for word in text.split(whereSeparator: isSeparator) {
            let pieces = word.split(separator: UInt8(ascii: ":"))
            if time == nil, pieces.count == 3 {
                time = pieces.compactMap { Int($0.text) }
            } else if month == nil, let found = Self.month(word) {
                month = found
            } else if day == nil, word.count <= 2, let number = Int(word.text) {
                day = number
            } else if year == nil, word.count == 2 || word.count == 4, let number = Int(word.text) {
                year = number < 70 ? number + 2000 : number < 100 ? number + 1900 : number
            }
        }
        guard let day, let month, let year, let time, time.count == 3, 1...31 ~= day, year >= 1601,
            time[0] < 24, time[1] < 60, time[2] < 60
        else { return nil }
        let seconds = CalendarTime.secondsSinceEpoch(
            year: year, month: month, day: day, hour: time[0], minute: time[1], second: time[2])
        self.init(microseconds: seconds * 1_000_000)
    }

    private static func month(_ word: ArraySlice<UInt8>) -> Int? {
        guard word.count >= 3 else { return nil }
        let start = word.prefix(3).map(\.asciiLowercased)
        return months.firstIndex(of: start).map { $0 + 1 }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ].map { Array($0.utf8) }
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
