import Testing

@testable import Base

struct QuantityTests {
    @Test(
        arguments: [
            (0, "0"), (999, "999"), (1000, "0.9k"), (1024, "1k"), (1229, "1.2k"), (10_240, "10k"),
            (1_023_999, "999k"), (1_024_000, "0.9m"), (1_572_864, "1.5m"), (10_737_418_240, "10g"),
            (Int64.max, "7.9e"), (-5, "0"),
        ] as [(Int64, String)])
    func writesSizes(_ row: (count: Int64, text: String)) {
        #expect(Quantity.text(byteCount: row.count) == row.text)
    }

    @Test(
        arguments: [
            (0, "0ms"), (99, "0ms"), (400, "0.4ms"), (1000, "1ms"), (34_567, "34ms"),
            (999_999, "999ms"),
            (1_000_000, "1s"), (1_250_000, "1.2s"), (59_999_999, "59s"), (60_000_000, "1m00s"),
            (125_000_000, "2m05s"), (3_600_000_000, "1h00m"), (11_520_000_000, "3h12m"),
            (-1, "0ms"),
            (Int64.max, "2562047788h00m"),
        ] as [(Int64, String)])
    func writesDurations(_ row: (time: Int64, text: String)) {
        #expect(Quantity.text(microseconds: row.time) == row.text)
    }

    @Test(arguments: [0, 9, 10, 99, 100, 1_000_000_007, .max, -1, -10, .min] as [Int64])
    func writesNumbers(_ number: Int64) {
        #expect(ShortText(number).text == "\(number)")
    }
}
