import Base
import HTTPModel
import Testing

struct HTTPDateTests {
    static let now = HTTPDate(seconds: 1_780_000_000)

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
        ("Thu Feb 29 00:00:00 2024", 1_709_164_800),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ("Friday, 01-Jan-76 00:00:00 GMT", 3_345_062_400),
        ("Saturday, 01-Jan-77 00:00:00 GMT", 220_924_800),
        ("Mon Nov 16 08:49:37 1994", 784_975_777),
    ])
    func reads(_ text: String, _ seconds: Int64) {
        #expect(HTTPDate([UInt8](text.utf8)[...], now: Self.now)?.seconds == seconds)
    }

    @Test(arguments: [
        "", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 6 Nov 1994 08:49:37 GMT", "sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 0000 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
        "Sun, -6 Nov 1994 08:49:37 GMT", "Wed, 29 Feb 2023 00:00:00 GMT", "784111777",
    ])
    func refuses(_ text: String) {
        #expect(HTTPDate([UInt8](text.utf8)[...], now: Self.now) == nil)
    }

    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
        (Int64.min, "Mon, 01 Jan 0001 00:00:00 GMT"),
    ])
    func writes(_ seconds: Int64, _ text: String) {
        #expect(HTTPDate(seconds: seconds).text == text)
    }

    @Test func roundsTimestampsDown() {
        #expect(HTTPDate(Timestamp(microseconds: 1_999_999)).seconds == 1)
        #expect(HTTPDate(Timestamp(microseconds: -1)).seconds == -1)
        #expect(HTTPDate(Timestamp(microseconds: -1_000_000)).seconds == -1)
    }
}
