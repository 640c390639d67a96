internal import Base
internal import HTTPModel

/// Takes a multipart content apart (RFC 2046 §5.1): the boundary, which clients make up each time,
/// counts for nothing.
enum MultipartParts {
    /// - Returns: `nil` for what has no boundary, or does not begin with it.
    static func fields(_ content: [UInt8], _ type: ArraySlice<UInt8>) -> [BodyField]? {
        guard let boundary = boundary(in: type) else { return nil }
        let mark = [0x2D, 0x2D] + boundary
        var starts = places(of: mark, in: content)[...]
        guard let first = starts.popFirst() else { return nil }
        var fields: [BodyField] = []
        var start = first + mark.count
        for (index, next) in starts.prefix(partLimit).enumerated() {
            fields += part(content[start..<max(start, next)], number: index)
            start = next + mark.count
        }
        return fields
    }

    private static func boundary(in type: ArraySlice<UInt8>) -> [UInt8]? {
        for parameter in type.split(separator: 0x3B).dropFirst() {
            let parameter = parameter.trimmingWhitespace
            guard parameter.prefix(9).equalsIgnoringCase("boundary=") else { continue }
            let value = parameter.dropFirst(9)
            let bare = value.first == 0x22 ? value.dropFirst().prefix { $0 != 0x22 } : value
            return bare.isEmpty ? nil : Array(bare)
        }
        return nil
    }

    /// Where the mark stands at the start of a line.
    private static func places(of mark: [UInt8], in content: [UInt8]) -> [Int] {
        var places: [Int] = []
        var index = 0
        while index + mark.count <= content.count {
            if content[index] == 0x2D, index == 0 || content[index - 1] == 0x0A,
                content[index..<index + mark.count].elementsEqual(mark)
            {
                places.append(index)
                index += mark.count
            } else {
                index += 1
            }
        }
        return places
    }

    private static func part(_ bytes: ArraySlice<UInt8>, number: Int) -> [BodyField] {
        var rest = bytes.drop { $0 == 0x20 || $0 == 0x0D }
        guard rest.popFirst() == 0x0A else { return [] }
        var name = "[\(number)]"
        var fields: [BodyField] = []
        while let end = rest.firstIndex(of: 0x0A) {
            let line = rest[..<end].last == 0x0D ? rest[..<(end - 1)] : rest[..<end]
            rest = rest[(end + 1)...]
            if line.isEmpty { break }
            let field = line.prefix { $0 != 0x3A }
            let value = line.dropFirst(field.count + 1).trimmingWhitespace
            if field.equalsIgnoringCase("content-disposition") {
                name = parameter("name", of: value) ?? name
                if let file = parameter("filename", of: value) {
                    fields.append(BodyField("filename", file))
                }
            } else if field.equalsIgnoringCase("content-type") {
                fields.append(BodyField("content-type", value.text))
            }
        }
        if rest.last == 0x0A { rest = rest.dropLast() }
        if rest.last == 0x0D { rest = rest.dropLast() }
        let isText = rest.allSatisfy { $0 >= 0x20 || [0x09, 0x0A, 0x0D].contains($0) }
        return [BodyField(name, isText ? rest.text : rest.hex)]
            + fields.map { BodyField("\(name).\($0.path)", $0.value) }
    }

    private static func parameter(_ name: String, of value: ArraySlice<UInt8>) -> String? {
        for part in value.split(separator: 0x3B).dropFirst() {
            let part = part.trimmingWhitespace
            guard part.starts(with: Array("\(name)=".utf8)) else { continue }
            let text = part.dropFirst(name.utf8.count + 1)
            return text.first == 0x22 ? text.dropFirst().prefix { $0 != 0x22 }.text : text.text
        }
        return nil
    }

    private static let partLimit = 1000
}
