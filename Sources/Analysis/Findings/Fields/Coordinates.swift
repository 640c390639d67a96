internal import Base

/// A place on earth, as a pair of numbers.
struct Coordinates: Equatable {
    let latitude: Double
    let longitude: Double
    /// Whether it tells a person from the neighbours: three decimals or more of both, as Apple
    /// draws the line.
    let isPrecise: Bool

    init?(latitude: [UInt8], longitude: [UInt8]) {
        guard let first = Self.number(latitude), let second = Self.number(longitude),
            (-90...90).contains(first.value), (-180...180).contains(second.value),
            first.value != 0 || second.value != 0
        else { return nil }
        self.latitude = first.value
        self.longitude = second.value
        isPrecise = first.decimals >= 3 && second.decimals >= 3
    }

    /// Two numbers with a comma between, such as `37.7749,-122.4194`.
    init?(pair value: [UInt8]) {
        guard (5...64).contains(value.count), value.contains(0x2E) else { return nil }
        let parts = value.split(separator: 0x2C, omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.contains(0x2E) }) else { return nil }
        self.init(latitude: Array(parts[0]).trimmed, longitude: Array(parts[1]).trimmed)
    }

    /// Whether both are within about ten metres.
    func isNear(_ other: Coordinates) -> Bool {
        abs(latitude - other.latitude) < 1e-4 && abs(longitude - other.longitude) < 1e-4
    }

    /// Digits with at most one point: neither exponents nor words.
    private static func number(_ text: [UInt8]) -> (value: Double, decimals: Int)? {
        let digits = text.drop { $0 == 0x2D || $0 == 0x2B }
        guard (1...24).contains(text.count), text.count - digits.count <= 1,
            digits.first?.isASCIIDigit == true,
            digits.allSatisfy({ $0.isASCIIDigit || $0 == 0x2E }),
            digits.count(where: { $0 == 0x2E }) <= 1, let value = Double(text.text)
        else { return nil }
        let point = digits.firstIndex(of: 0x2E)
        return (value, point.map { digits.endIndex - $0 - 1 } ?? 0)
    }
}
