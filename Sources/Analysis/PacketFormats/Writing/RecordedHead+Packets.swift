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
        elements(named: "transfer-encoding").contains { $0.equalsIgnoringCase("chunked") }
    }
}
