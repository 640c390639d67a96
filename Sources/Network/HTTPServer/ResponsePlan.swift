internal import Base
package import HTTPModel

/// How one response goes out: the head's fields, and what follows them.
package struct ResponsePlan: Sendable {
    package let status: Int
    /// `none`, `length`, `chunked`, or `untilClose` for clients of HTTP/1.0.
    package let framing: BodyFraming
    /// Whether the connection ends after the response.
    package let closes: Bool
    /// Whether the end of the content is left out on purpose.
    let omitsEnd: Bool
    private let version: HTTPVersion
    private let given: [ResponseField]
    /// The value of Date that is sent besides the given fields.
    let date: String?
    /// The fields that frame the message, as they are told.
    private let framingFields: [ResponseField]

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
        let delivery = response.delivery
        let hasContent = response.status >= 200 && response.status != 204 && response.status != 304
        let length = response.status == 205 ? 0 : response.body.length
        var framing = BodyFraming.none
        if hasContent, method != .head {
            if let length {
                framing = length == 0 ? .none : .length(length)
            } else {
                framing = version == .http11 ? .chunked : .untilClose
            }
        }
        let breaksFraming = delivery?.breaksFraming ?? false
        let closes =
            version != .http2 && (!keepsAlive || framing == .untilClose || breaksFraming)
        var fields: [ResponseField] = []
        if hasContent, let length {
            let declared = Int64(clamping: length).addingReportingOverflow(
                delivery?.lengthShift ?? 0)
            let told = declared.overflow ? Int64.max : max(0, declared.partialValue)
            fields.append(ResponseField("Content-Length", String(told)))
        } else if framing == .chunked {
            fields.append(ResponseField("Transfer-Encoding", "chunked"))
        }
        if closes, !breaksFraming {
            fields.append(ResponseField("Connection", "close"))
        } else if version == .http10, !closes {
            fields.append(ResponseField("Connection", "keep-alive"))
        }
        if let given = delivery?.framing, version != .http2 {
            fields = given
            if framing == .chunked { framing = .untilClose }
        }
        status = response.status
        self.framing = framing
        self.closes = closes
        self.version = version
        omitsEnd = delivery?.omitsEnd ?? false
        given = response.fields
        framingFields = fields
        self.date = response.fields.contains { $0.name == "Date" } ? nil : date
    }

    /// Calls `body` with the head's fields in their order.
    func eachField(_ body: (_ name: String, _ value: String) -> Void) {
        for field in given where !isReserved(field.name) { body(field.name, field.value) }
        if let date { body("Date", date) }
        for field in framingFields { body(field.name, field.value) }
    }

    /// Whether a field is not the route's to send.
    private func isReserved(_ name: String) -> Bool {
        Self.isFraming(name) || (version == .http2 && Self.isOfConnection(name))
    }

    /// The head in HTTP/1, through the empty line.
    package var head: [UInt8] {
        var head = Self.statusLine(status)
        eachField { name, value in Self.append(name, value, to: &head) }
        head.append(contentsOf: Self.lineEnd)
        return head
    }

    /// An interim response in HTTP/1 (RFC 9110 §15.2).
    static func interimHead(_ status: Int, _ fields: [ResponseField]) -> [UInt8] {
        var head = statusLine(status)
        for field in fields where !isFraming(field.name) {
            append(field.name, field.value, to: &head)
        }
        return head + lineEnd
    }

    /// The last chunk with the trailer section (RFC 9112 §7.1).
    package static func lastChunk(trailers: [ResponseField]) -> [UInt8] {
        var bytes = [UInt8]("0\r\n".utf8)
        for field in trailers where !isFraming(field.name) {
            append(field.name, field.value, to: &bytes)
        }
        return bytes + lineEnd
    }

    private static func statusLine(_ status: Int) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(512)
        line.append(contentsOf: "HTTP/1.1 ".utf8)
        line.append(contentsOf: String(status).utf8)
        line.append(0x20)
        line.append(contentsOf: reasonPhrase(of: status).utf8)
        line.append(contentsOf: lineEnd)
        return line
    }

    private static func append(_ name: String, _ value: String, to head: inout [UInt8]) {
        head.append(contentsOf: name.utf8)
        head.append(0x3A)
        head.append(0x20)
        head.append(contentsOf: value.utf8)
        head.append(contentsOf: lineEnd)
    }

    static func isFraming(_ name: String) -> Bool {
        switch name.utf8.count {
        case 14: return [UInt8](name.utf8).equalsIgnoringCase("content-length")
        case 17: return [UInt8](name.utf8).equalsIgnoringCase("transfer-encoding")
        case 10: return [UInt8](name.utf8).equalsIgnoringCase("connection")
        default: return false
        }
    }

    /// The others that HTTP/2 does not know (RFC 9113 §8.2.2).
    static func isOfConnection(_ name: String) -> Bool {
        switch name.utf8.count {
        case 7: return [UInt8](name.utf8).equalsIgnoringCase("upgrade")
        case 10: return [UInt8](name.utf8).equalsIgnoringCase("keep-alive")
        case 16: return [UInt8](name.utf8).equalsIgnoringCase("proxy-connection")
        default: return false
        }
    }

    private static let lineEnd: [UInt8] = [0x0D, 0x0A]
}
