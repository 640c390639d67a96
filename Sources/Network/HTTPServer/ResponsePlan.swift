internal import Base
package import HTTPModel

/// How one response goes out: the head's bytes, and what follows them.
package struct ResponsePlan: Sendable, Equatable {
    /// Through the empty line.
    package let head: [UInt8]
    /// `none`, `length`, `chunked`, or `untilClose` for clients of HTTP/1.0.
    package let framing: BodyFraming
    /// Whether the connection ends after the response.
    package let closes: Bool

    /// Plans the response to a request (RFC 9112 §6, §9.3).
    ///
    /// Fields of the response that would frame it or manage the connection are left out: they are
    /// decided here.
    ///
    /// - Parameters:
    ///   - keepsAlive: whether the connection may be used again.
    ///   - date: the value of Date, unless the response has its own.
    package init(
        _ response: ServerResponse, toMethod method: RequestMethod, version: HTTPVersion,
        keepsAlive: Bool, date: String
    ) {
        let hasContent = response.status >= 200 && response.status != 204 && response.status != 304
        let length = response.status == 205 ? 0 : response.body.length
        var framing = BodyFraming.none
        if hasContent, method != .head {
            if let length {
                framing = length == 0 ? .none : .length(length)
            } else {
                framing = version == .http10 ? .untilClose : .chunked
            }
        }
        self.framing = framing
        closes = !keepsAlive || framing == .untilClose

        var head: [UInt8] = []
        head.reserveCapacity(512)
        head.append(contentsOf: "HTTP/1.1 ".utf8)
        head.append(contentsOf: String(response.status).utf8)
        head.append(0x20)
        head.append(contentsOf: reasonPhrase(of: response.status).utf8)
        head.append(contentsOf: Self.lineEnd)
        var hasDate = false
        for field in response.fields where !Self.isFraming(field.name) {
            Self.append(field.name, field.value, to: &head)
            hasDate = hasDate || field.name == "Date"
        }
        if !hasDate { Self.append("Date", date, to: &head) }
        if hasContent, let length {
            Self.append("Content-Length", String(length), to: &head)
        } else if framing == .chunked {
            Self.append("Transfer-Encoding", "chunked", to: &head)
        }
        if closes {
            Self.append("Connection", "close", to: &head)
        } else if version == .http10 {
            Self.append("Connection", "keep-alive", to: &head)
        }
        head.append(contentsOf: Self.lineEnd)
        self.head = head
    }

    /// The last chunk with the trailer section (RFC 9112 §7.1).
    package static func lastChunk(trailers: [ResponseField]) -> [UInt8] {
        var bytes = [UInt8]("0\r\n".utf8)
        for field in trailers where !isFraming(field.name) {
            append(field.name, field.value, to: &bytes)
        }
        return bytes + lineEnd
    }

    private static func append(_ name: String, _ value: String, to head: inout [UInt8]) {
        head.append(contentsOf: name.utf8)
        head.append(0x3A)
        head.append(0x20)
        head.append(contentsOf: value.utf8)
        head.append(contentsOf: lineEnd)
    }

    private static func isFraming(_ name: String) -> Bool {
        let bytes = name.utf8
        switch bytes.count {
        case 14: return [UInt8](bytes).equalsIgnoringCase("content-length")
        case 17: return [UInt8](bytes).equalsIgnoringCase("transfer-encoding")
        case 10: return [UInt8](bytes).equalsIgnoringCase("connection")
        default: return false
        }
    }

    private static let lineEnd: [UInt8] = [0x0D, 0x0A]
}
