internal import Base
internal import Contents
internal import HTTPModel

extension RecordedHead {
    var isHTTP2: Bool {
        startLine.suffix(8).elementsEqual("HTTP/2.0".utf8)
            || startLine.prefix(8).elementsEqual("HTTP/2.0".utf8)
    }

    /// Whether the content is in chunks (RFC 9112 §7.1).
    var isChunked: Bool {
        values(named: "transfer-encoding").contains { value in
            value.split(separator: UInt8(ascii: ",")).contains {
                $0.trimmingWhitespace.equalsIgnoringCase("chunked")
            }
        }
    }
}
