internal import Base
internal import Contents
internal import HTTPModel

/// Writes heads in their plainest spelling.
extension RecordedHead {
    /// The words of a status line: its version, and its reason.
    var statusLine: (version: String, reason: String) {
        let words = statusWords
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
        let read = RecordedHead(head)
        var result: [UInt8] = []
        var start = 0
        for place in read.places where head[place.name].equalsIgnoringCase(name) {
            result += head[start..<place.lines.lowerBound]
            start = place.lines.upperBound
        }
        return result + head[start...]
    }

    /// A head in its plainest spelling, whose Content-Length, if it has one, is that of the content.
    static func correctingLength(_ byteCount: Int, in head: [UInt8]) -> [UInt8] {
        let read = RecordedHead(head)
        var fields = read.fields
        let length = Array(String(byteCount).utf8)
        let wrong = fields.indices.filter {
            fields[$0].name.equalsIgnoringCase("content-length") && fields[$0].value != length
        }
        guard !wrong.isEmpty else { return head }
        for index in wrong { fields[index].value = length }
        return spell(startLine: Array(read.startLine), fields)
    }

}

private let lineEnd = [UInt8]("\r\n".utf8)

extension UInt8 {
    /// One of tchar (RFC 9110 §5.6.2).
    var isTokenByte: Bool {
        isASCIILetter || isASCIIDigit || "!#$%&'*+-.^_`|~".utf8.contains(self)
    }
}
