internal import Base

/// One field of a response.
package struct ResponseField: Sendable, Equatable {
    package let name: String
    package let value: String

    /// Replaces what could end the field, CR, LF and NUL, with spaces (RFC 9110 §5.5), so that no
    /// text from a request can add a field.
    package init(_ name: String, _ value: String) {
        self.name = Self.tamed(name)
        self.value = Self.tamed(value)
    }

    private static func tamed(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else {
            return text
        }
        return text.utf8.map { $0 == 0x0D || $0 == 0x0A || $0 == 0 ? 0x20 : $0 }.text
    }
}

/// What a route answers: a status, fields in the order in which they are sent, and a stream.
///
/// Framing fields (Content-Length, Transfer-Encoding, Connection), Date and Server are not the
/// route's: `ResponsePlan` adds them.
package struct ServerResponse {
    /// 200 to 599.
    package var status: Int
    package var fields: [ResponseField]
    package var body: ResponseBody

    package init(_ status: Int, _ fields: [ResponseField] = [], body: ResponseBody = .none) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    package init(_ status: Int, type: String, _ text: String) {
        self.init(
            status, [ResponseField("Content-Type", type)], body: .bytes([UInt8](text.utf8)))
    }

    /// The status with its reason as a line of text.
    package static func plain(_ status: Int) -> ServerResponse {
        let reason = reasonPhrase(of: status)
        return ServerResponse(
            status, type: "text/plain; charset=utf-8", "\(status) \(reason)\n")
    }

    /// The value of the first field of this name in any case, `nil` if there is none.
    package func first(_ name: String) -> String? {
        let lowercased = name.lowercased()
        return fields.first { $0.name.lowercased() == lowercased }?.value
    }
}

/// The usual reason phrase of a status (RFC 9110 §15), empty for an unknown one.
package func reasonPhrase(of status: Int) -> String {
    reasonPhrases[status] ?? ""
}

private let reasonPhrases: [Int: String] = [
    100: "Continue", 101: "Switching Protocols", 103: "Early Hints",
    200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information",
    204: "No Content", 205: "Reset Content", 206: "Partial Content",
    300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other",
    304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
    400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden",
    404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable",
    407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
    411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
    414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
    417: "Expectation Failed", 418: "I'm a teapot", 421: "Misdirected Request",
    422: "Unprocessable Content", 425: "Too Early", 426: "Upgrade Required",
    428: "Precondition Required", 429: "Too Many Requests",
    431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
    503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
]
