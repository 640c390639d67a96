/// Sizes and durations as people write and read them.
package enum Quantity {
    /// `1 exchange`, `2 exchanges`.
    package static func text(_ count: some BinaryInteger, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    /// Reads `512`, `64k`, `1.5m`, `2g`: a unit counts by 1024. `nil` if it is none or overflows.
    package static func byteCount(_ text: String) -> Int64? {
        read(text, units: ["": 1, "b": 1, "k": 1024, "m": 1024 * 1024, "g": 1024 * 1024 * 1024])
    }

    /// Reads `500ms`, `10s`, `1.5s`, `2m`, `1h` in microseconds; a number needs its unit, only 0
    /// does not. `nil` if it is none or overflows.
    package static func microseconds(_ text: String) -> Int64? {
        if text == "0" { return 0 }
        return read(
            text,
            units: [
                "us": 1, "ms": 1000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000,
            ])
    }

    private static func read(_ text: String, units: [String: Int64]) -> Int64? {
        let bytes = [UInt8](text.utf8)
        let number = bytes.prefix { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
        let unit = bytes[number.count...].text.lowercased()
        guard let factor = units[unit] else { return nil }
        let parts = number.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let whole = parts.first.flatMap({ Int64($0.text) }), parts.count <= 2 else {
            return nil
        }
        let (product, overflow) = whole.multipliedReportingOverflow(by: factor)
        guard !overflow else { return nil }
        guard parts.count == 2 else { return product }
        guard (1...3).contains(parts[1].count), let fraction = Int64(parts[1].text) else {
            return nil
        }
        let divisor: Int64 = [10, 100, 1000][parts[1].count - 1]
        let (sum, tooMuch) = product.addingReportingOverflow(fraction * factor / divisor)
        return tooMuch ? nil : sum
    }

    /// `0`, `999`, `1.2k`, `45m`: at most five columns, by 1024.
    package static func text(byteCount: Int64) -> String {
        guard byteCount >= 1000 else { return ShortText(max(0, byteCount)).text }
        var tenths = byteCount / 1024 * 10 + byteCount % 1024 * 10 / 1024
        var unit = 0
        while tenths >= 10_000, unit < units.count - 1 {
            tenths /= 1024
            unit += 1
        }
        return decimal(tenths: tenths, units[unit])
    }

    /// `0.4ms`, `34ms`, `1.2s`, `2m05s`, `3h12m`.
    package static func text(microseconds: Int64) -> String {
        let time = max(0, microseconds)
        if time < 1_000_000 { return decimal(tenths: time / 100, "ms") }
        if time < 60_000_000 { return decimal(tenths: time / 100_000, "s") }
        let seconds = Int(time / 1_000_000)
        if seconds < 3600 { return "\(seconds / 60)m\(padded(seconds % 60, 2))s" }
        return "\(seconds / 3600)h\(padded(seconds / 60 % 60, 2))m"
    }

    private static let units: [StaticString] = ["k", "m", "g", "t", "p", "e"]

    /// One decimal below ten, none above.
    private static func decimal(tenths: Int64, _ unit: StaticString) -> String {
        var text = ShortText(tenths / 10)
        if tenths < 100, tenths % 10 != 0 {
            text.append(UInt8(ascii: "."))
            text.append(tenths % 10)
        }
        text.append(unit)
        return text.text
    }
}
