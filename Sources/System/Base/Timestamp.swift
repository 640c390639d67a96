#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A moment on the wall clock, in microseconds since 1970-01-01 UTC.
package struct Timestamp: Sendable, Hashable, Comparable {
    package let microseconds: Int64

    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Reads the machine's clock.
    package static func now() -> Timestamp {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }

    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }

    /// The microseconds from `start` to here, never negative: a clock set back counts as none.
    ///
    /// Any two moments can be compared, as a capture may hold any number.
    package func microseconds(since start: Timestamp) -> Int64 {
        guard self > start else { return 0 }
        let (difference, overflow) = microseconds.subtractingReportingOverflow(start.microseconds)
        return overflow ? .max : difference
    }

    /// The time of day in UTC with milliseconds: `07:05:01.250`.
    package var timeOfDay: String {
        let milliseconds = Int(microseconds.flooredRemainder(by: 86_400_000_000) / 1000)
        var text = [12 of UInt8](repeating: UInt8(ascii: "0"))
        (text[2], text[5], text[8]) = (UInt8(ascii: ":"), UInt8(ascii: ":"), UInt8(ascii: "."))
        func write(_ number: Int, endingAt last: Int, width: Int) {
            var rest = number
            for place in stride(from: last, to: last - width, by: -1) {
                text[place] += UInt8(rest % 10)
                rest /= 10
            }
        }
        write(milliseconds / 3_600_000, endingAt: 1, width: 2)
        write(milliseconds / 60_000 % 60, endingAt: 4, width: 2)
        write(milliseconds / 1000 % 60, endingAt: 7, width: 2)
        write(milliseconds % 1000, endingAt: 11, width: 3)
        return unsafe text.span.withUnsafeBufferPointer { unsafe $0.text }
    }

    /// RFC 3339 in UTC with milliseconds: `2026-03-09T07:05:01.250Z`.
    package var rfc3339: String {
        let parts = CalendarTime(secondsSinceEpoch: microseconds.flooredQuotient(by: 1_000_000))
        let milliseconds = microseconds.flooredRemainder(by: 1_000_000) / 1000
        return
            "\(padded(parts.year, 4))-\(padded(parts.month, 2))-\(padded(parts.day, 2))"
            + "T\(padded(parts.hour, 2)):\(padded(parts.minute, 2)):\(padded(parts.second, 2))"
            + ".\(padded(Int(milliseconds), 3))Z"
    }
}

/// A moment on a clock that never goes back, in nanoseconds since some start.
package struct MonotonicTime: Sendable, Hashable, Comparable {
    package let nanoseconds: UInt64

    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// Reads the machine's clock.
    package static func now() -> MonotonicTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(
            nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }

    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

/// The proleptic Gregorian calendar in UTC, without a time zone database.
package struct CalendarTime: Sendable, Equatable {
    package let year: Int
    /// 1 to 12.
    package let month: Int
    /// 1 to 31.
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int
    /// 0 is Sunday.
    package let weekday: Int

    package init(secondsSinceEpoch: Int64) {
        let days = secondsSinceEpoch.flooredQuotient(by: 86_400)
        let rest = Int(secondsSinceEpoch.flooredRemainder(by: 86_400))
        hour = rest / 3600
        minute = rest / 60 % 60
        second = rest % 60
        weekday = Int((days + 4).flooredRemainder(by: 7))
        // Days are counted from 0000-03-01, so that the leap day is the last of its year.
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
        month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
    }

    /// The seconds since 1970-01-01 UTC of a date and time; the fields are taken as they are.
    package static func secondsSinceEpoch(
        year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int
    ) -> Int64 {
        let shiftedYear = Int64(month <= 2 ? year - 1 : year)
        let era = shiftedYear.flooredQuotient(by: 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        return days * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }
}

extension Int64 {
    func flooredQuotient(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }

    func flooredRemainder(by divisor: Int64) -> Int64 {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}

/// `number` in decimal with leading zeros up to `width` digits.
package func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}
