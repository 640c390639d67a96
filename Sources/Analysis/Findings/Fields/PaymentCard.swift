internal import Base

/// A number that is a payment card's by its brand's prefix and length and by its check digit: a third
/// of a hundred random numbers is as well, so what stands around has to say so too.
struct PaymentCard {
    /// Whether it is one that processors publish for tests.
    let isTest: Bool

    init?(_ value: [UInt8]) {
        guard (14...23).contains(value.count) else { return nil }
        let digits = value.filter { $0 != 0x20 && $0 != 0x2D }
        guard (14...16).contains(digits.count), digits.allSatisfy(\.isASCIIDigit),
            Self.isBrand(digits), Checksum.luhn(digits)
        else { return nil }
        isTest = Self.tests.contains(digits.text) || Set(digits).count <= 2
    }

    private static func isBrand(_ digits: [UInt8]) -> Bool {
        let start = Int(digits.prefix(4).text) ?? 0
        switch digits.count {
        case 16:
            return start / 1000 == 4 || (5100...5599).contains(start)
                || (2221...2720).contains(start) || start == 6011 || start / 100 == 65
                || (6440...6499).contains(start) || (3528...3589).contains(start)
                || start / 100 == 62
        case 15: return start / 100 == 34 || start / 100 == 37
        default: return (3000...3059).contains(start) || start / 100 == 36 || start / 100 == 38
        }
    }

    private static let tests: Set<String> = [
        "4242424242424242", "4000056655665556", "5555555555554444", "2223003122003222",
        "5200828282828210", "5105105105105100", "378282246310005", "371449635398431",
        "6011111111111117", "6011000990139424", "3056930009020004", "36227206271667",
        "3566002020360505", "6200000000000005", "4012888888881881", "4000000000000002",
        "4000000000003220", "30569309025904", "38520000023237", "4917610000000000",
    ]
}
