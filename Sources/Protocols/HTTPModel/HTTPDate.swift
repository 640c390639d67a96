package import Base

/// A moment as HTTP writes it: whole seconds, in GMT (RFC 9110 §5.6.7).
package struct HTTPDate: Sendable, Hashable, Comparable {
    /// Since 1970-01-01 UTC, within the years 1 to 9999.
    package let seconds: Int64

    /// A moment beyond the years 1 to 9999 becomes the nearest within.
    package init(seconds: Int64) {
        self.seconds = min(max(seconds, -62_135_596_800), 253_402_300_799)
    }

    package init(_ timestamp: Timestamp) {
        let whole = timestamp.microseconds / 1_000_000
        self.init(seconds: timestamp.microseconds % 1_000_000 < 0 ? whole - 1 : whole)
    }

    package static func < (left: HTTPDate, right: HTTPDate) -> Bool {
        left.seconds < right.seconds
    }

    /// The date as IMF-fixdate, the only format that is sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
    package var text: String {
        let time = CalendarTime(secondsSinceEpoch: seconds)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(29)
        func append(_ number: Int, digits count: Int) {
            var unit = count == 4 ? 1000 : 10
            while unit > 0 {
                bytes.append(UInt8(ascii: "0") + UInt8(number / unit % 10))
                unit /= 10
            }
        }
        bytes.append(contentsOf: weekdays[time.weekday].utf8.prefix(3))
        bytes.append(contentsOf: ", ".utf8)
        append(time.day, digits: 2)
        bytes.append(0x20)
        bytes.append(contentsOf: months[time.month - 1].utf8)
        bytes.append(0x20)
        append(time.year, digits: 4)
        bytes.append(0x20)
        append(time.hour, digits: 2)
        bytes.append(UInt8(ascii: ":"))
        append(time.minute, digits: 2)
        bytes.append(UInt8(ascii: ":"))
        append(time.second, digits: 2)
        bytes.append(contentsOf: " GMT".utf8)
        return bytes.text
    }

    /// Reads any of the three formats; `nil` for everything else.
    ///
    /// - Parameter now: decides which century a two-digit year means (RFC 9110 §5.6.7).
    package init?(_ text: ArraySlice<UInt8>, now: HTTPDate) {
        var reader = DateReader(rest: text)
        guard let date = reader.date(now: now), reader.rest.isEmpty else { return nil }
        self = date
    }
}

/// Reads the parts of a date from the front.
private struct DateReader {
    var rest: ArraySlice<UInt8>

    mutating func date(now: HTTPDate) -> HTTPDate? {
        if skip("Sun Mon Tue Wed Thu Fri Sat".split(separator: " "), then: ", ") {
            guard let day = digits(2), skip(" "), let month = month(), skip(" "),
                let year = digits(4), skip(" "), let time = time(), skip(" GMT")
            else { return nil }
            return Self.date(year, month, day, time)
        }
        if skip(weekdays, then: ", ") {
            guard let day = digits(2), skip("-"), let month = month(), skip("-"),
                let short = digits(2), skip(" "), let time = time(), skip(" GMT")
            else { return nil }
            return Self.date(Self.fullYear(short, now: now), month, day, time)
        }
        guard skip("Sun Mon Tue Wed Thu Fri Sat".split(separator: " "), then: " "),
            let month = month(), skip(" "), let day = skip(" ") ? digits(1) : digits(2),
            skip(" "), let time = time(), skip(" "), let year = digits(4)
        else { return nil }
        return Self.date(year, month, day, time)
    }

    /// A two-digit year more than 50 years ahead is the most recent past one with these digits.
    private static func fullYear(_ short: Int, now: HTTPDate) -> Int {
        let current = CalendarTime(secondsSinceEpoch: now.seconds).year
        let year = current - current % 100 + short
        return year > current + 50 ? year - 100 : year
    }

    private static func date(
        _ year: Int, _ month: Int, _ day: Int, _ time: (hour: Int, minute: Int, second: Int)
    ) -> HTTPDate? {
        guard year >= 1, day >= 1 else { return nil }
        let midnight = CalendarTime.secondsSinceEpoch(
            year: year, month: month, day: day, hour: 0, minute: 0, second: 0)
        // A day that its month does not have comes back as another one.
        guard CalendarTime(secondsSinceEpoch: midnight).day == day else { return nil }
        return HTTPDate(
            seconds: midnight + Int64(time.hour * 3600 + time.minute * 60 + time.second))
    }

    /// A leap second is allowed, as the grammar has it.
    private mutating func time() -> (hour: Int, minute: Int, second: Int)? {
        guard let hour = digits(2), hour < 24, skip(":"), let minute = digits(2), minute < 60,
            skip(":"), let second = digits(2), second <= 60
        else { return nil }
        return (hour, minute, second)
    }

    private mutating func month() -> Int? {
        for (index, name) in months.enumerated() where skip(name) { return index + 1 }
        return nil
    }

    private mutating func digits(_ count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(\.isASCIIDigit) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 &- 0x30) }
    }

    private mutating func skip(_ text: some StringProtocol) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    private mutating func skip(_ names: [some StringProtocol], then separator: String) -> Bool {
        names.contains { skip("\($0)\(separator)") }
    }
}

private let weekdays = [
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
]

private let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
]
