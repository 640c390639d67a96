internal import Base

/// A recorded head as lines: malformed ones too, as far as they go.
struct HeadText {
    /// The first line without its line end.
    let startLine: ArraySlice<UInt8>
    /// In wire order; a folded line belongs to its field.
    private(set) var fields: [Field] = []

    struct Field {
        let name: ArraySlice<UInt8>
        var value: ArraySlice<UInt8>
    }

    init(_ head: [UInt8]) {
        let lines = head.split(separator: 0x0A, omittingEmptySubsequences: false)
            .map { $0.last == 0x0D ? $0.dropLast() : $0 }
        startLine = lines.first ?? []
        add(lines.dropFirst())
    }

    /// Reads a trailer section, which has no first line.
    init(trailers: [UInt8]) {
        self.init([0x0A] + trailers)
    }

    private mutating func add(_ lines: ArraySlice<ArraySlice<UInt8>>) {
        for line in lines where !line.isEmpty {
            guard let colon = line.firstIndex(of: 0x3A), line.first != 0x20, line.first != 0x09
            else { continue }
            // The colon of a pseudo-header field begins its name.
            let end = colon == line.startIndex ? line[(colon + 1)...].firstIndex(of: 0x3A) : colon
            guard let end else { continue }
            fields.append(Field(name: line[..<end], value: Self.trimmed(line[(end + 1)...])))
        }
    }

    /// The words of the first line: method, target, version; or version, status, reason.
    var words: [ArraySlice<UInt8>] { startLine.split(separator: 0x20, maxSplits: 2) }

    /// The method of a request.
    var method: ArraySlice<UInt8> { words.first ?? [] }

    /// The target of a request.
    var target: ArraySlice<UInt8> { words.count > 1 ? words[1] : [] }

    /// The status of a response; 0 if there is none.
    var status: Int { words.count > 1 ? Int(words[1].text) ?? 0 : 0 }

    var isHTTP2: Bool {
        startLine.suffix(8).elementsEqual("HTTP/2.0".utf8)
            || startLine.prefix(8).elementsEqual("HTTP/2.0".utf8)
    }

    func first(_ lowercased: StaticString) -> ArraySlice<UInt8>? {
        fields.first { $0.name.equalsIgnoringCase(lowercased) }?.value
    }

    /// Whether the content is in chunks (RFC 9112 §7.1).
    var isChunked: Bool {
        fields.contains { field in
            field.name.equalsIgnoringCase("transfer-encoding")
                && field.value.split(separator: 0x2C).contains {
                    Self.trimmed($0).equalsIgnoringCase("chunked")
                }
        }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes
        while let byte = rest.first, byte == 0x20 || byte == 0x09 { rest.removeFirst() }
        while let byte = rest.last, byte == 0x20 || byte == 0x09 { rest.removeLast() }
        return rest
    }
}
