internal import Base
internal import HTTPModel

/// Masks in XML what stands in elements and attributes whose names are those of secrets; malformed
/// texts too, as far as they go.
enum XMLRedaction {
    static func redact(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var index = 0
        var isSecret = false
        while index < text.count {
            guard text[index] == less else {
                let end = text[index...].firstIndex(of: less) ?? text.count
                append(text[index..<end], isSecret, to: &result)
                index = end
                continue
            }
            if text[index...].starts(with: section) {
                let inside = index + section.count
                let end = self.end(of: sectionEnd, in: text, from: inside) ?? text.count
                result += section
                append(text[inside..<end], isSecret, to: &result)
                index = min(end + sectionEnd.count, text.count)
                result += text[end..<index]
                continue
            }
            let end = tagEnd(in: text, from: index)
            let tag = text[index..<end]
            isSecret = opensSecret(tag)
            appendTag(tag, to: &result)
            index = end
        }
        return result
    }

    private static func append(
        _ text: ArraySlice<UInt8>, _ isSecret: Bool, to result: inout [UInt8]
    ) {
        let isBlank = text.allSatisfy { $0 <= 0x20 }
        result += isSecret && !isBlank ? redactionMark[...] : text
    }

    /// Whether what follows a tag is a secret by the tag's name, without its namespace.
    private static func opensSecret(_ tag: ArraySlice<UInt8>) -> Bool {
        let name = tag.dropFirst().prefix { $0 > 0x20 && $0 != greater && $0 != slash }
        let local = name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
        let isEmpty = tag.dropLast().last == slash
        return !isEmpty && SecretName.isField(local)
    }

    /// Appends a tag with the values of secret attributes masked.
    private static func appendTag(_ tag: ArraySlice<UInt8>, to result: inout [UInt8]) {
        var rest = tag
        while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
            let before = rest[..<equals].trimmingWhitespace
            let name = before.suffix(while: { $0 > 0x20 && $0 != less })
            let quote = rest[(equals + 1)...].firstIndex { $0 > 0x20 } ?? rest.endIndex
            guard quote < rest.endIndex, [0x22, 0x27].contains(rest[quote]),
                let end = rest[(quote + 1)...].firstIndex(of: rest[quote])
            else { break }
            let value = rest[(quote + 1)..<end]
            result += rest[...quote]
            result += SecretName.isField(name) && !value.isEmpty ? redactionMark[...] : value
            rest = rest[end...]
            result.append(rest[rest.startIndex])
            rest = rest.dropFirst()
        }
        result += rest
    }

    /// Behind the sign that ends a tag, which may stand in a quoted value as well.
    private static func tagEnd(in text: [UInt8], from start: Int) -> Int {
        if text[start...].starts(with: comment) {
            return end(of: commentEnd, in: text, from: start).map { $0 + commentEnd.count }
                ?? text.count
        }
        var quote: UInt8?
        var index = start
        while index < text.count {
            let byte = text[index]
            index += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == greater {
                return index
            } else if byte == 0x22 || byte == 0x27 {
                quote = byte
            }
        }
        return index
    }

    private static func end(of mark: [UInt8], in text: [UInt8], from start: Int) -> Int? {
        var index = start
        while let found = text[index...].firstIndex(of: mark[0]) {
            if text[found...].starts(with: mark) { return found }
            index = found + 1
        }
        return nil
    }

    private static let less = UInt8(ascii: "<")
    private static let greater = UInt8(ascii: ">")
    private static let slash = UInt8(ascii: "/")
    private static let section = Array("<![CDATA[".utf8)
    private static let sectionEnd = Array("]]>".utf8)
    private static let comment = Array("<!--".utf8)
    private static let commentEnd = Array("-->".utf8)
}

extension ArraySlice<UInt8> {
    fileprivate func suffix(while belongs: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = lastIndex { !belongs($0) }.map { $0 + 1 } ?? startIndex
        return self[start...]
    }
}
