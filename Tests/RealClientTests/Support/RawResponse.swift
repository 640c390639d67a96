import Foundation

/// A response as it came on a connection that then ended.
struct RawResponse: Sendable {
    let status: Int
    let fields: [(name: String, value: String)]
    let body: Data

    /// One part of a multipart/byteranges.
    struct Part: Equatable, Sendable {
        let head: String
        let content: Data
    }

    init(_ bytes: Data) throws {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else {
            throw Trouble("no head: \(String(decoding: bytes.prefix(200), as: UTF8.self))")
        }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let lines = head.components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count > 1, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
            throw Trouble("no status line: \(lines[0])")
        }
        self.status = status
        fields = try lines.dropFirst().map { line in
            guard let colon = line.firstIndex(of: ":") else { throw Trouble("no field: \(line)") }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (String(line[..<colon]), value)
        }
        body = Data(bytes[end.upperBound...])
    }

    /// Asks on a connection of its own; `fields` may hold a name twice.
    init(
        from port: UInt16, _ method: String, _ target: String,
        _ fields: [(name: String, value: String)] = []
    ) async throws {
        let connection = try RawConnection(port: port)
        let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        try await connection.send(
            "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(lines)\r\n")
        try self.init(try await connection.receiveAll())
    }

    /// The value of the only field of this name, `nil` if there is none.
    subscript(name: String) -> String? {
        let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        return values.count == 1 ? values[0] : nil
    }

    /// The parts of a multipart/byteranges; `nil` if it is none, or not well-formed.
    var parts: [Part]? {
        let prefix = "multipart/byteranges; boundary="
        guard let type = self["Content-Type"], type.hasPrefix(prefix) else { return nil }
        let delimiter = Data("\r\n--\(type.dropFirst(prefix.count))".utf8)
        var parts: [Part] = []
        var rest = body[...]
        guard rest.starts(with: delimiter) else { return nil }
        rest = rest.dropFirst(delimiter.count)
        while let next = rest.range(of: delimiter) {
            let part = rest[..<next.lowerBound]
            guard let end = part.range(of: Data("\r\n\r\n".utf8)) else { return nil }
            parts.append(
                Part(
                    head: String(decoding: part[..<end.lowerBound], as: UTF8.self),
                    content: Data(part[end.upperBound...])))
            rest = rest[next.upperBound...]
        }
        return rest.elementsEqual("--\r\n".utf8) ? parts : nil
    }
}
