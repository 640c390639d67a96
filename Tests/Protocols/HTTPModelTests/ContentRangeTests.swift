import HTTPModel
import Testing

struct ContentRangeTests {
    @Test(arguments: [
        ("bytes 0-0/1", ContentRange.part(0..<1, total: 1)),
        ("bytes 0-9/*", .part(0..<10, total: nil)),
        ("BYTES 5-9/10", .part(5..<10, total: 10)),
        ("bytes */10", .unsatisfied(total: 10)),
        ("bytes */0", .unsatisfied(total: 0)),
        ("bytes */*", .unknown),
        ("bytes=5-9/10", .part(5..<10, total: 10)),
        (
            "bytes 9223372036854775805-9223372036854775805/9223372036854775806",
            .part(
                9_223_372_036_854_775_805..<9_223_372_036_854_775_806,
                total: 9_223_372_036_854_775_806)
        ),
    ])
    func reads(_ text: String, _ expected: ContentRange) throws {
        #expect(try ContentRange([UInt8](text.utf8)[...]) == expected)
    }

    @Test(arguments: [
        ("", ContentRangeViolation.malformed), ("bytes", .malformed), ("bytes ", .malformed),
        ("bytes 0-9", .malformed), ("bytes 0/9", .malformed), ("bytes -9/10", .malformed),
        ("bytes 0-/10", .malformed), ("bytes 0-9/", .malformed), ("bytes 0-9/1a", .malformed),
        ("bytes 0-9-9/10", .malformed), ("bytes +0-9/10", .malformed), ("items 0-9/10", .otherUnit),
        ("bytes 9-0/10", .backwards), ("bytes 0-10/10", .behindEnd), ("bytes 0-0/0", .behindEnd),
        ("bytes 0-9223372036854775807/*", .tooLarge),
        ("bytes 0-99999999999999999999/*", .tooLarge),
        ("bytes 0-9/18446744073709551616", .tooLarge),
    ])
    func refuses(_ text: String, _ expected: ContentRangeViolation) {
        #expect(throws: expected) { try ContentRange([UInt8](text.utf8)[...]) }
    }

    @Test(arguments: ["bytes 0-9/10", "bytes 7-7/*", "bytes */10", "bytes */*"])
    func writes(_ text: String) throws {
        #expect(try ContentRange([UInt8](text.utf8)[...]).text == text)
    }
}
