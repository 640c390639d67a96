internal import Base

/// Finds what a page hands out: the values of inputs, and the contents of `meta`.
enum HTMLFields {
    /// Calls `visit` with each place and value, in the order of the page.
    static func read(_ page: [UInt8], _ visit: (ValuePlace, [UInt8]) -> Void) {
        var position = 0
        while position < page.count {
            guard page[position] == 0x3C else {
                position += 1
                continue
            }
            if page[position...].starts(with: "<!--".utf8) {
                position = end(of: "-->", in: page, from: position + 4)
                continue
            }
            let name = page[(position + 1)...].prefix { $0.isASCIILetter }
            position = name.endIndex
            let isInput = name.equalsIgnoringCase("input")
            guard isInput || name.equalsIgnoringCase("meta") else { continue }
            let attributes = attributes(page, &position)
            let label = attributes["name"] ?? attributes["property"]
            guard let label, let value = attributes[isInput ? "value" : "content"] else { continue }
            visit(isInput ? .field(label.text) : .meta(label.text), value)
        }
    }

    private static func end(of mark: String, in page: [UInt8], from start: Int) -> Int {
        var position = start
        while position < page.count, !page[position...].starts(with: mark.utf8) { position += 1 }
        return min(page.count, position + mark.utf8.count)
    }

    /// Reads attributes up to the tag's end; of several with one name, the first counts.
    private static func attributes(_ page: [UInt8], _ position: inout Int) -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        while position < page.count, page[position] != 0x3E {
            let name = page[position...].prefix {
                !isSpace($0) && ![0x3D, 0x3E, 0x2F].contains($0)
            }
            guard !name.isEmpty else {
                position += 1
                continue
            }
            position = name.endIndex
            skipSpace(page, &position)
            guard position < page.count, page[position] == 0x3D else { continue }
            position += 1
            skipSpace(page, &position)
            let key = name.map(\.asciiLowercased).text
            let value = HTMLText.decoded(value(page, &position))
            if found[key] == nil { found[key] = value }
        }
        return found
    }

    private static func value(_ page: [UInt8], _ position: inout Int) -> ArraySlice<UInt8> {
        guard position < page.count else { return [] }
        let quote = page[position]
        if quote == 0x22 || quote == 0x27 {
            let value = page[(position + 1)...].prefix { $0 != quote }
            position = min(page.count, value.endIndex + 1)
            return value
        }
        let value = page[position...].prefix { !isSpace($0) && $0 != 0x3E }
        position = value.endIndex
        return value
    }

    private static func skipSpace(_ page: [UInt8], _ position: inout Int) {
        while position < page.count, isSpace(page[position]) { position += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}

/// Character references, those that encoders of values write.
enum HTMLText {
    static func decoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        guard bytes.contains(0x26) else { return Array(bytes) }
        var result: [UInt8] = []
        var rest = bytes
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
        "amp": 0x26, "quot": 0x22, "lt": 0x3C, "gt": 0x3E, "apos": 0x27,
    ]
}
