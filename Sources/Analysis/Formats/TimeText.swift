internal import Base
internal import HTTPModel

extension Timestamp {
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
