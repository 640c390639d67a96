internal import Base
internal import HTTPModel

/// A recorded head, taken apart as far as it goes: what is no field is passed over.
struct HeadText {
    struct Field: Equatable {
        let name: [UInt8]
        /// Without white space around it; lines of a folded one are joined by a space.
        var value: [UInt8]
    }

    /// The first line, without its line end; empty for a trailer section.
    private(set) var startLine: [UInt8] = []
    private(set) var fields: [Field] = []

    /// - Parameter hasStartLine: false for a trailer section.
    init(_ bytes: [UInt8], hasStartLine: Bool = true) {
        var isFirst = hasStartLine
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if isFirst {
                startLine = Array(line)
                isFirst = false
            } else if line.first == 0x20 || line.first == 0x09, let last = fields.indices.last {
                fields[last].value += [0x20] + line.trimmingWhitespace
            } else if let colon = line.dropFirst().firstIndex(of: UInt8(ascii: ":")) {
                fields.append(
                    Field(
                        name: Array(line[..<colon].trimmingWhitespace),
                        value: Array(line[(colon + 1)...].trimmingWhitespace)))
            }
        }
    }

    /// The values of the fields of this name, which is in lower case.
    func values(named name: StaticString) -> [[UInt8]] {
        fields.filter { $0.name.equalsIgnoringCase(name) }.map(\.value)
    }

    /// The words of a status line: its version, and its reason.
    var statusLine: (version: String, reason: String) {
        let words = startLine.split(
            separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        return (words.first?.text ?? "", words.count > 2 ? words[2].text : "")
    }

    /// A head in its plainest spelling.
    static func spell(startLine: [UInt8]?, _ fields: [Field]) -> [UInt8] {
        var bytes: [UInt8] = []
        if let startLine { bytes += startLine + lineEnd }
        for field in fields { bytes += field.name + [0x3A, 0x20] + field.value + lineEnd }
        return bytes + lineEnd
    }

    /// `HTTP/2.0 200` or `HTTP/1.1 200 OK`; an empty reason leaves its space in HTTP/1
    /// (RFC 9112 §4).
    static func statusLine(version: String, status: Int, reason: String) -> [UInt8] {
        let isEmpty = reason.isEmpty && !version.hasPrefix("HTTP/1")
        return [UInt8]("\(version) \(status)\(isEmpty ? "" : " ")\(reason)".utf8)
    }

    /// A head without the fields of this name, which is in lower case; all else as it came.
    static func removing(_ name: StaticString, from head: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var isRemoved = false
        var rest = head[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
            let line = rest[..<end]
            let isFolded = line.first == 0x20 || line.first == 0x09
            if !isFolded {
                let colon = line.firstIndex(of: UInt8(ascii: ":"))
                isRemoved =
                    colon.map {
                        line[..<$0].trimmingWhitespace.equalsIgnoringCase(name)
                    } ?? false
            }
            if !isRemoved { result += line }
            rest = rest[end...]
        }
        return result
    }

    /// A head in its plainest spelling, whose Content-Length, if it has one, is that of the content.
    static func correctingLength(_ byteCount: Int, in head: [UInt8]) -> [UInt8] {
        var text = HeadText(head)
        let length = Array(String(byteCount).utf8)
        let wrong = text.fields.indices.filter {
            text.fields[$0].name.equalsIgnoringCase("content-length")
                && text.fields[$0].value != length
        }
        guard !wrong.isEmpty else { return head }
        for index in wrong { text.fields[index].value = length }
        return spell(startLine: text.startLine, text.fields)
    }

    private static let lineEnd = [UInt8]("\r\n".utf8)
}

extension UInt8 {
    /// One of tchar (RFC 9110 §5.6.2).
    var isTokenByte: Bool {
        isASCIILetter || isASCIIDigit || "!#$%&'*+-.^_`|~".utf8.contains(self)
    }
}
