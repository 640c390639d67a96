internal import Base

/// A recorded head, read so that a malformed one still yields what can be seen in it.
///
/// Lines may end in LF alone; a line without a colon is skipped; folded lines are joined; the
/// pseudo-header fields of HTTP/2 are taken for the request line.
struct LenientHead {
    struct Field {
        /// In lower case.
        let name: [UInt8]
        /// Without the white space around it.
        var value: [UInt8]
    }

    private(set) var method: [UInt8] = []
    private(set) var target: [UInt8] = []
    /// What a CONNECT of HTTP/2 asks for besides a tunnel (RFC 8441 §4); empty for a plain one.
    private(set) var connectProtocol: [UInt8] = []
    private(set) var fields: [Field] = []
    /// Whether a line was no field.
    private(set) var isMalformed = false

    init(request raw: [UInt8]) {
        var isFirst = true
        for line in Self.lines(of: raw) {
            if isFirst, line.first != 0x3A {
                readRequestLine(line)
            } else {
                readField(line)
            }
            isFirst = false
        }
    }

    init(response raw: [UInt8]) {
        for line in Self.lines(of: raw).dropFirst(raw.first == 0x3A ? 0 : 1) { readField(line) }
    }

    /// The values of the fields of this name, which must be in lower case.
    func values(_ name: StaticName) -> [[UInt8]] {
        fields.filter { $0.name == name.bytes }.map(\.value)
    }

    func first(_ name: StaticName) -> [UInt8]? {
        fields.first { $0.name == name.bytes }?.value
    }

    private mutating func readRequestLine(_ line: ArraySlice<UInt8>) {
        let parts = line.split(separator: 0x20, maxSplits: 1)
        guard parts.count == 2 else {
            isMalformed = true
            method = Array((parts.first ?? []).prefix(64))
            return
        }
        method = Array(parts[0].prefix(64))
        let rest = parts[1]
        // The target ends at the last space, so that one with a space in it is seen whole.
        if let space = rest.lastIndex(of: 0x20), rest[space...].dropFirst().starts(with: httpSlash)
        {
            target = Array(rest[..<space].prefix(Self.valueLimit))
        } else {
            target = Array(rest.prefix(Self.valueLimit))
        }
    }

    private mutating func readField(_ line: ArraySlice<UInt8>) {
        if let first = line.first, first == 0x20 || first == 0x09 {
            guard let last = fields.indices.last else {
                isMalformed = true
                return
            }
            fields[last].value += [0x20] + Array(line).trimmed
            return
        }
        let isPseudo = line.first == 0x3A
        let body = isPseudo ? line.dropFirst() : line
        guard let colon = body.firstIndex(of: 0x3A), colon > body.startIndex else {
            isMalformed = true
            return
        }
        let value = Array(body[(colon + 1)...].prefix(Self.valueLimit)).trimmed
        let name = Array(body[..<colon].prefix(Self.nameLimit)).trimmed.lowercasedBytes
        switch (isPseudo, name.text) {
        case (true, "method"): method = Array(value.prefix(64))
        case (true, "path"): target = value
        case (true, "protocol"): connectProtocol = Array(value.prefix(64))
        case (true, _): break
        case (false, _): fields.append(Field(name: name, value: value))
        }
    }

    /// The lines before the empty one, without their ends.
    private static func lines(of raw: [UInt8]) -> [ArraySlice<UInt8>] {
        var result: [ArraySlice<UInt8>] = []
        var start = 0
        while start < raw.count, result.count < lineLimit {
            let lineFeed = raw[start...].firstIndex(of: 0x0A) ?? raw.count
            var line = raw[start..<lineFeed]
            if line.last == 0x0D { line = line.dropLast() }
            if line.isEmpty { break }
            result.append(line)
            start = lineFeed + 1
        }
        return result
    }

    /// More than the codecs take; the head itself is as long as what was recorded of it.
    private static let lineLimit = 4096
    private static let nameLimit = 256
    private static let valueLimit = 1 << 16
}

/// A name in lower case as bytes, written as a literal.
struct StaticName: ExpressibleByStringLiteral {
    let bytes: [UInt8]

    init(stringLiteral value: String) { bytes = Array(value.utf8) }
}

private let httpSlash = Array("HTTP/".utf8)
