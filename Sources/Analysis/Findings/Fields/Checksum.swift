internal import Base

/// The check digits of numbers that people and devices are known by.
enum Checksum {
    /// ISO/IEC 7812-1, annex B: cards, IMEI and ICCID.
    static func luhn(_ digits: [UInt8]) -> Bool {
        var sum = 0
        for (index, byte) in digits.reversed().enumerated() {
            guard byte.isASCIIDigit else { return false }
            let digit = Int(byte - 0x30) * (index.isMultiple(of: 2) ? 1 : 2)
            sum += digit > 9 ? digit - 9 : digit
        }
        return !digits.isEmpty && sum.isMultiple(of: 10)
    }

    /// ISO 13616-1: an IBAN, in capitals and without spaces.
    static func iban(_ value: [UInt8]) -> Bool {
        guard let length = ibanLengths[value.prefix(2).text], value.count == length,
            value[2].isASCIIDigit, value[3].isASCIIDigit
        else { return false }
        var rest = 0
        for byte in value[4...] + value[..<4] {
            if byte.isASCIIDigit {
                rest = (rest * 10 + Int(byte - 0x30)) % 97
            } else if (0x41...0x5A).contains(byte) {
                rest = (rest * 100 + Int(byte - 0x37)) % 97
            } else {
                return false
            }
        }
        return rest == 1
    }

    /// The registry's lengths, by country.
    private static let ibanLengths: [String: Int] = [
        "AD": 24, "AE": 23, "AT": 20, "BE": 16, "BG": 22, "CH": 21, "CY": 28, "CZ": 24, "DE": 22,
        "DK": 18, "EE": 20, "ES": 24, "FI": 18, "FR": 27, "GB": 22, "GR": 27, "HR": 21, "HU": 28,
        "IE": 22, "IS": 26, "IT": 27, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MT": 31,
        "NL": 18, "NO": 15, "PL": 28, "PT": 25, "RO": 24, "SA": 24, "SE": 24, "SI": 19, "SK": 24,
        "SM": 27, "TR": 26,
    ]
}
