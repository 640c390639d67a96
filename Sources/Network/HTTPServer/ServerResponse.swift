internal import Base
internal import HTTPModel

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

    /// In any case.
    func isNamed(_ other: String) -> Bool {
        name.utf8.count == other.utf8.count
            && zip(name.utf8, other.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }

    private static func tamed(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else {
            return text
        }
        return text.utf8.map { $0 == 0x0D || $0 == 0x0A || $0 == 0 ? 0x20 : $0 }.text
    }
}

/// Bytes of a representation inside of a content that has other bytes as well.
package struct ContentPart: Sendable, Equatable {
    /// Where in the content they begin.
    package let offset: UInt64
    package let range: Range<UInt64>

    package init(at offset: UInt64, _ range: Range<UInt64>) {
        self.offset = offset
        self.range = range
    }
}

/// Is told of a response that is sent again, and gives what is called when that is over; `nil` if
/// this client is to be answered anew.
package typealias Repetition = (ClientConnection) -> ((SentResponse) -> Void)?

/// What a route answers: a status, fields in the order in which they are sent, and a stream.
///
/// Framing fields (Content-Length, Transfer-Encoding, Connection), Date and Server are not the
/// route's: `ResponsePlan` adds them.
package struct ServerResponse {
    /// 200 to 599.
    package var status: Int
    package var fields: [ResponseField]
    package var body: ResponseBody
    /// What the content is, or is a part of, for whoever digests it; `nil` if that is not known.
    package var selected: SelectedRepresentation?
    /// Which bytes of the representation stand where in the content, if it has several parts.
    package var parts: [ContentPart] = []
    /// Whether it was made in place of the representation that was asked for, such as a login page.
    package var isSubstitute = false
    /// How it is delivered wrong on purpose; `nil` for faithfully.
    package var delivery: Delivery?
    /// Called when the response is over, on the loop of its connection; and once more, with
    /// `isDoubtful`, if the client then breaks off a connection that may have held bytes of it.
    package var onEnd: ((SentResponse) -> Void)?
    /// Whether the same head gets the same for as long as the server lives.
    package var isSteady = false
    /// Where it is steady, and may be sent again without another call of the route.
    package var repetition: Repetition?

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
        fields.first { $0.isNamed(name) }?.value
    }
}
