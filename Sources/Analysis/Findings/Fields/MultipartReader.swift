internal import Base

/// Splits a multipart content (RFC 2046 §5.1, RFC 7578), leniently.
enum MultipartReader {
    struct Part {
        var name: [UInt8] = []
        var contentType: [UInt8] = []
        var isFile = false
        var content: [UInt8] = []
    }

    static func parts(of body: [UInt8], contentType: [UInt8]) -> [Part] {
        guard let boundary = parameter("boundary", of: contentType), !boundary.isEmpty,
            boundary.count <= 70
        else { return [] }
        let delimiter = [0x2D, 0x2D] + boundary
        var result: [Part] = []
        var start = lineStart(of: delimiter, in: body, from: 0)
        while let current = start, result.count < partLimit {
            let contentStart = current + delimiter.count
            guard let next = lineStart(of: delimiter, in: body, from: contentStart) else {
                result.append(part(body[contentStart...]))
                break
            }
            result.append(part(body[contentStart..<next]))
            start = next
        }
        return result
    }

    /// Where a line begins with the delimiter. Each line is looked at once.
    private static func lineStart(
        of delimiter: [UInt8], in body: [UInt8], from start: Int
    ) -> Int? {
        var index = start
        var isLineStart = start == 0
        while index < body.count {
            if isLineStart, body[index...].starts(with: delimiter) { return index }
            isLineStart = body[index] == 0x0A
            index += 1
        }
        return nil
    }

    private static func part(_ bytes: ArraySlice<UInt8>) -> Part {
        var result = Part()
        var rest = bytes.drop { $0 != 0x0A }.dropFirst()
        while !rest.isEmpty {
            let line = Array(rest.prefix { $0 != 0x0A }.prefix(headerLimit)).trimmed
            rest = rest.drop { $0 != 0x0A }.dropFirst()
            if line.isEmpty { break }
            read(header: line, into: &result)
        }
        var content = rest
        if content.last == 0x0A { content = content.dropLast() }
        if content.last == 0x0D { content = content.dropLast() }
        result.content = Array(content)
        return result
    }

    private static func read(header line: [UInt8], into part: inout Part) {
        guard let colon = line.firstIndex(of: 0x3A) else { return }
        let value = Array(line[(colon + 1)...]).trimmed
        switch Array(line[..<colon]).lowercasedBytes.text {
        case "content-disposition":
            part.name = parameter("name", of: value) ?? []
            part.isFile =
                parameter("filename", of: value) != nil
                || parameter("filename*", of: value) != nil
        case "content-type": part.contentType = value
        default: break
        }
    }

    /// The value of a parameter of a field such as `form-data; name="a"`.
    static func parameter(_ name: StaticName, of value: [UInt8]) -> [UInt8]? {
        for piece in pieces(value).dropFirst() {
            guard let equals = piece.firstIndex(of: 0x3D) else { continue }
            guard Array(piece[..<equals]).trimmed.lowercasedBytes == name.bytes else { continue }
            let text = Array(piece[(equals + 1)...]).trimmed
            if text.first == 0x22 {
                return Array(text.dropFirst().prefix { $0 != 0x22 }.prefix(256))
            }
            return Array(text.prefix(256))
        }
        return nil
    }

    /// Splits at the semicolons that stand in no quotes.
    private static func pieces(_ value: [UInt8]) -> [ArraySlice<UInt8>] {
        var result: [ArraySlice<UInt8>] = []
        var start = 0
        var isQuoted = false
        for (index, byte) in value.enumerated() {
            if byte == 0x22 { isQuoted.toggle() }
            guard byte == 0x3B, !isQuoted else { continue }
            result.append(value[start..<index])
            start = index + 1
        }
        result.append(value[start...])
        return result
    }

    private static let partLimit = 1024
    private static let headerLimit = 4096
}
