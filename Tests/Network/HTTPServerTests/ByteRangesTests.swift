import Base
import HTTPServer
import Testing

/// What the table of whole answers cannot show: lengths that no memory holds.
struct ByteRangesTests {
    private static let top = UInt64(Int64.max)

    @Test(arguments: [
        ("bytes=0-", top, ByteRanges.parts([0..<top])),
        ("bytes=9223372036854775806-", top, .parts([top - 1..<top])),
        ("bytes=9223372036854775807-", top, .unsatisfiable),
        ("bytes=-1", top, .parts([top - 1..<top])),
        ("bytes=0-18446744073709551615", UInt64.max, .parts([0..<UInt64.max])),
        (
            "bytes=18446744073709551614-18446744073709551615", UInt64.max,
            .parts([UInt64.max - 1..<UInt64.max])
        ),
        ("bytes=18446744073709551615-", UInt64.max, .unsatisfiable),
        ("bytes=0-9223372036854775806,0-9223372036854775806,0-5", UInt64.max, .whole),
        ("bytes=0-,0-,0-", UInt64.max, .whole),
        (
            "bytes=0-4294967295,4294967296-", 1 << 33,
            .parts([0..<1 << 32, 1 << 32..<1 << 33])
        ),
    ])
    func resolves(_ value: String, _ length: UInt64, _ expected: ByteRanges) {
        #expect(ByteRanges.resolve([[UInt8](value.utf8)[...]], length: length) == expected)
    }
}
