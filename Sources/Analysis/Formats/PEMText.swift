internal import Base

/// A certificate in PEM (RFC 7468).
enum PEMText {
    static func encode(_ certificate: [UInt8]) -> [UInt8] {
        var text = Array("\(begin)\n".utf8)
        var rest = Array(Base64.encode(certificate).utf8)[...]
        while !rest.isEmpty {
            text += rest.prefix(64) + [UInt8(ascii: "\n")]
            rest = rest.dropFirst(64)
        }
        return text + Array("\(end)\n".utf8)
    }

    /// The first certificate; `nil` if there is none.
    static func decode(_ text: [UInt8]) -> [UInt8]? {
        let lines = text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D })
        guard let start = lines.firstIndex(where: { $0.elementsEqual(begin.utf8) }),
            let stop = lines[start...].firstIndex(where: { $0.elementsEqual(end.utf8) })
        else { return nil }
        return Base64.decode(lines[(start + 1)..<stop].joined())
    }

    /// Whether bytes are the three parts that make a certificate (RFC 5280 §4.1); what is in them
    /// is not looked at.
    static func isCertificate(_ bytes: [UInt8]) -> Bool {
        guard let whole = DERElement(bytes[...]), whole.tag == 0x30, whole.end == bytes.count
        else { return false }
        var rest = bytes[whole.start..<whole.end]
        for tag: UInt8 in [0x30, 0x30, 0x03] {
            guard let part = DERElement(rest), part.tag == tag else { return false }
            rest = rest[part.end...]
        }
        return rest.isEmpty
    }

    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"
}

/// Where one element of DER is (X.690 §8.1).
private struct DERElement {
    let tag: UInt8
    /// Of its content.
    let start: Int
    let end: Int

    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= 2 else { return nil }
        tag = bytes[bytes.startIndex]
        var index = bytes.startIndex + 1
        var count = Int(bytes[index])
        index += 1
        if count >= 0x80 {
            let width = count & 0x7F
            guard 1...3 ~= width, bytes.endIndex - index >= width else { return nil }
            count = bytes[index..<(index + width)].reduce(0) { $0 << 8 | Int($1) }
            index += width
        }
        guard count <= bytes.endIndex - index else { return nil }
        start = index
        end = index + count
    }
}
