internal import Base
internal import Contents
internal import HTTPModel

/// The fields of a `multipart/form-data` content (RFC 7578).
struct MultipartText {
    struct Part: Equatable {
        var name: [UInt8] = []
        var fileName: [UInt8]?
        var contentType: [UInt8]?
        var content: [UInt8] = []
    }

    let parts: [Part]

    /// Returns `nil` if the boundary is not in the content.
    init?(_ content: [UInt8], boundary: [UInt8]) {
        guard !boundary.isEmpty else { return nil }
        let delimiter = Array("--".utf8) + boundary
        var parts: [Part] = []
        var start: Int?
        var line = 0
        while line < content.count {
            let end = content[line...].firstIndex(of: 0x0A) ?? content.count
            if content[line..<end].starts(with: delimiter) {
                if let start, start <= line {
                    parts.append(Self.part(content[start..<Self.trimmed(content, start, line)]))
                }
                start = min(end + 1, content.count)
                if content[(line + delimiter.count)..<end].starts(with: [0x2D, 0x2D]) { break }
            }
            line = end + 1
        }
        guard start != nil else { return nil }
        self.parts = parts
    }

    /// The content of these parts.
    static func spell(_ parts: [Part], boundary: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for part in parts {
            result += Array("--".utf8) + boundary
            result += "\r\nContent-Disposition: form-data; name=\"".utf8
            result += part.name + Array("\"".utf8)
            if let name = part.fileName { result += Array("; filename=\"".utf8) + name + [0x22] }
            if let type = part.contentType { result += Array("\r\nContent-Type: ".utf8) + type }
            result += Array("\r\n\r\n".utf8) + part.content + [0x0D, 0x0A]
        }
        return result + Array("--".utf8) + boundary + Array("--\r\n".utf8)
    }

    /// Where a part ends: before the line end that belongs to the delimiter.
    private static func trimmed(_ content: [UInt8], _ start: Int, _ line: Int) -> Int {
        var end = line
        if end > start { end -= 1 }
        if end > start, content[end - 1] == 0x0D { end -= 1 }
        return end
    }

    private static func part(_ bytes: ArraySlice<UInt8>) -> Part {
        var headEnd = bytes.startIndex
        while headEnd < bytes.endIndex {
            let end = bytes[headEnd...].firstIndex(of: 0x0A) ?? bytes.endIndex
            let isEmpty = bytes[headEnd..<end].allSatisfy { $0 == 0x0D }
            headEnd = min(end + 1, bytes.endIndex)
            if isEmpty { break }
        }
        let head = RecordedHead(trailers: Array(bytes[..<headEnd]))
        var part = Part()
        if let value = head.first(named: "content-disposition") {
            let disposition = ParameterizedValue(value)
            part.name = disposition["name"] ?? []
            part.fileName = disposition["filename"]
        }
        part.contentType = head.first(named: "content-type").map(Array.init)
        part.content = Array(bytes[headEnd...])
        return part
    }
}
