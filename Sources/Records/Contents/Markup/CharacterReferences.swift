internal import Base

/// Character references of XML and HTML, those that encoders of values write.
package enum CharacterReferences {
    package static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard text.contains(0x26) else { return Array(text) }
        var result: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            let name = rest.prefix(10).prefix { $0 != 0x3B }
            guard byte == 0x26, rest.dropFirst(name.count).first == 0x3B,
                let character = character(name.text)
            else {
                result.append(byte)
                continue
            }
            result += character
            rest = rest.dropFirst(name.count + 1)
        }
        return result
    }

    private static func character(_ name: String) -> [UInt8]? {
        if let known = named[name] { return [known] }
        guard name.hasPrefix("#") else { return nil }
        let digits = name.dropFirst()
        let isHex = digits.first == "x" || digits.first == "X"
        let code = isHex ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return code.flatMap(Unicode.Scalar.init).map { Array(String(Character($0)).utf8) }
    }

    private static let named: [String: UInt8] = [
        "amp": 0x26, "quot": 0x22, "lt": 0x3C, "gt": 0x3E, "apos": 0x27, "colon": 0x3A, "sol": 0x2F,
    ]
}
