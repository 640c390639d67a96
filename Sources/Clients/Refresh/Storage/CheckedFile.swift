internal import Base
internal import Contents

/// A small file that says of itself what it is and whether it is whole: a line with a schema, a
/// length and a checksum, and the content behind it.
enum CheckedFile {
    enum Reading: Equatable {
        case absent
        case whole([UInt8])
        /// It ends in its middle, or bytes are not what they were.
        case damaged
        /// It was written by a version that is not known.
        case otherSchema(String)
    }

    /// Errors: `file-unreadable`.
    static func read(
        _ path: String, schema: String, byteLimit: Int
    ) throws(Failure) -> Reading {
        guard Files.exists(path) else { return .absent }
        return judge(try Files.read(path, byteLimit: byteLimit + 256), schema: schema)
    }

    static func judge(_ bytes: [UInt8], schema: String) -> Reading {
        guard let end = bytes.firstIndex(of: 0x0A), let head = JSONObject(Array(bytes[..<end])),
            let found = head.text("schema")
        else { return .damaged }
        guard found == schema else { return .otherSchema(found) }
        let content = Array(bytes[(end + 1)...])
        guard head.integer("bytes") == Int64(content.count),
            head.text("crc32c") == checksum(content)
        else { return .damaged }
        return .whole(content)
    }

    /// In place of the file that is there, at once or not at all; only its owner may read it.
    ///
    /// Errors: `file-unwritable`.
    static func write(_ path: String, schema: String, _ content: [UInt8]) throws(Failure) {
        try Files.replace(path, bytes(schema: schema, content))
    }

    static func bytes(schema: String, _ content: [UInt8]) -> [UInt8] {
        let head: JSONText = [
            "schema": .string(schema), "bytes": .integer(Int64(content.count)),
            "crc32c": .string(checksum(content)),
        ]
        return head.line + [0x0A] + content
    }

    private static func checksum(_ bytes: [UInt8]) -> String {
        let running = RunningChecksum(.crc32c)
        running.update(bytes)
        return running.finish().hex
    }
}
