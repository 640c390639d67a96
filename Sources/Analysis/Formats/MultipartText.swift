internal import Base
internal import Contents

/// The fields of a `multipart/form-data` content (RFC 7578).
enum MultipartText {
    struct Part: Equatable {
        var name: [UInt8] = []
        var fileName: [UInt8]?
        var contentType: [UInt8]?
        var content: [UInt8] = []
    }

    /// Returns `nil` if the boundary is not in the content.
    static func parts(of content: [UInt8], boundary: [UInt8]) -> [Part]? {
        MultipartReader.parts(of: content, boundary: boundary, limit: .max)?.map { part in
            Part(
                name: part.name ?? [], fileName: part.fileName,
                contentType: part.type.map(Array.init), content: Array(part.content))
        }
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
}
