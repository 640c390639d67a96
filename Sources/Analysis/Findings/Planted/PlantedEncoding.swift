internal import Base

/// The forms that a planted value is looked for in; the raw values are a contract.
package enum PlantedEncoding: String, Sendable {
    case plain
    case utf16
    case percent
    case base64
    case hex
    case jsonEscape = "json-escape"
    case htmlEntity = "html-entity"
    case quotedPrintable = "quoted-printable"
    case md5
    case sha1
    case sha256

    /// Whether the value itself does not pass.
    package var isHash: Bool { self == .md5 || self == .sha1 || self == .sha256 }

    /// Every form of a value, each with its name.
    static func forms(
        of value: SubjectProfile.PlantedValue, digests: DigestFunctions
    ) -> [(PlantedEncoding, [UInt8])] {
        variants(of: value).flatMap { variant in
            direct(variant) + base64(variant) + escaped(variant) + hashed(variant, digests)
        }
    }

    /// The value, in lower case, and a phone number without its punctuation (E.164).
    private static func variants(of value: SubjectProfile.PlantedValue) -> [[UInt8]] {
        var result = [value.bytes]
        let lower = value.bytes.lowercasedBytes
        if lower != value.bytes { result.append(lower) }
        if value.kind == .phone {
            let digits = value.bytes.filter(\.isASCIIDigit)
            if digits.count >= 8, digits != value.bytes { result += [digits, [0x2B] + digits] }
        }
        return result
    }

    private static func direct(_ value: [UInt8]) -> [(PlantedEncoding, [UInt8])] {
        let wide = value.text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        let hex = value.hex
        return [
            (.plain, value), (.utf16, wide), (.hex, Array(hex.utf8)),
            (.hex, Array(hex.uppercased().utf8)),
        ]
    }

    /// The part of the encoding that does not depend on its neighbours, at each alignment.
    private static func base64(_ value: [UInt8]) -> [(PlantedEncoding, [UInt8])] {
        (0..<3).flatMap { offset -> [(PlantedEncoding, [UInt8])] in
            let padded = [UInt8](repeating: 0, count: offset) + value
            let text = Array(Base64.encode(padded).utf8)
            let start = (offset * 8 + 5) / 6
            let core = Array(text[start..<padded.count * 8 / 6])
            let urlSafe = core.map { $0 == 0x2B ? 0x2D : $0 == 0x2F ? 0x5F : $0 }
            return [(.base64, core), (.base64, urlSafe)]
        }
    }

    private static func escaped(_ value: [UInt8]) -> [(PlantedEncoding, [UInt8])] {
        var result: [(PlantedEncoding, [UInt8])] = []
        for uppercase in [false, true] {
            let every = percent(value, uppercase: uppercase) { _ in false }
            let reserved = percent(value, uppercase: uppercase, keeps: isUnreserved)
            let plus = Array(
                reserved.text.split(separator: "%20", omittingEmptySubsequences: false)
                    .joined(separator: "+").utf8)
            result += [(.percent, every), (.percent, reserved), (.percent, plus)]
            let units = value.text.utf16.map { hexadecimal(Int($0), 4, uppercase) }
            result.append((.jsonEscape, Array(units.map { "\\u" + $0 }.joined().utf8)))
            let mixed = value.text.utf16.map { jsonUnit($0, uppercase) }
            result.append((.jsonEscape, Array(mixed.joined().utf8)))
            let scalars = value.text.unicodeScalars.map { hexadecimal(Int($0.value), 0, uppercase) }
            result.append((.htmlEntity, Array(scalars.map { "&#x\($0);" }.joined().utf8)))
        }
        let decimal = value.text.unicodeScalars.map { "&#\($0.value);" }
        result.append((.htmlEntity, Array(decimal.joined().utf8)))
        result.append((.htmlEntity, Array(value.text.map(namedEntity).joined().utf8)))
        let quoted = value.flatMap { byte in
            byte > 0x20 && byte < 0x7F && byte != 0x3D
                ? [byte] : Array("=\(hexadecimal(Int(byte), 2, true))".utf8)
        }
        result.append((.quotedPrintable, quoted))
        return result
    }

    private static func hashed(
        _ value: [UInt8], _ digests: DigestFunctions
    ) -> [(PlantedEncoding, [UInt8])] {
        let hashes = [
            (PlantedEncoding.md5, digests.md5(value)), (.sha1, digests.sha1(value)),
            (.sha256, digests.sha256(value)),
        ]
        return hashes.flatMap { encoding, hash in
            let base64 = Array(Base64.encode(hash).utf8).filter { $0 != 0x3D }
            let urlSafe = base64.map { $0 == 0x2B ? 0x2D : $0 == 0x2F ? 0x5F : $0 }
            let hex = hash.hex
            return [Array(hex.utf8), Array(hex.uppercased().utf8), base64, urlSafe].map {
                (encoding, $0)
            }
        }
    }

    private static func percent(
        _ value: [UInt8], uppercase: Bool, keeps: (UInt8) -> Bool
    ) -> [UInt8] {
        value.flatMap { byte in
            keeps(byte) ? [byte] : Array("%\(hexadecimal(Int(byte), 2, uppercase))".utf8)
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || [0x2D, 0x2E, 0x5F, 0x7E].contains(byte)
    }

    private static func jsonUnit(_ unit: UInt16, _ uppercase: Bool) -> String {
        switch unit {
        case 0x22: "\\\""
        case 0x5C: "\\\\"
        case 0x2F: "\\/"
        case 0x20..<0x7F: String(UnicodeScalar(UInt8(unit)))
        default: "\\u" + hexadecimal(Int(unit), 4, uppercase)
        }
    }

    private static func namedEntity(_ character: Character) -> String {
        switch character {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        case "'": "&#39;"
        default: String(character)
        }
    }

    private static func hexadecimal(_ number: Int, _ width: Int, _ uppercase: Bool) -> String {
        let digits = String(number, radix: 16, uppercase: uppercase)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
