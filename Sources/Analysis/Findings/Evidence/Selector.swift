/// Which part of a message it was: the container and the name in it.
package struct Selector: Sendable, Hashable, CustomStringConvertible {
    package let container: Container
    /// The name of the field, header, cookie or parameter; empty where there is none.
    package let name: SafeName?
    /// The path inside a structured value (RFC 6901), `nil` if it is not structured.
    package let pointer: SafeName?

    init(container: Container, name: [UInt8], pointer: [[UInt8]], redaction: EvidenceRedaction) {
        self.container = container
        self.name = name.isEmpty ? nil : SafeName(name, redaction: redaction)
        self.pointer = pointer.isEmpty ? nil : SafeName(pointer: pointer, redaction: redaction)
    }

    /// Such as `header authorization` or `json /user/password`.
    package var text: String {
        [container.rawValue, name?.text, pointer?.text].compactMap { $0 }.joined(separator: " ")
    }

    package var description: String { text }
}

/// The parts of a message that hold values; the raw values are a contract.
package enum Container: String, Sendable {
    case header
    case cookie
    case setCookie = "set-cookie"
    case userinfo = "url.userinfo"
    case path = "url.path"
    case pathParameter = "url.path.param"
    case query = "url.query"
    case referer
    case form
    case multipart
    case json
    case xml
    case protobuf
    case messagePack = "msgpack"
    case cbor
    case propertyList = "plist"
    case dns
    /// An event of an event stream.
    case event
    case html
    case body
    case trailer
    /// A message of a WebSocket.
    case message
    /// What a side of a dialogue said that is no HTTP.
    case dialogue

    /// Those of a content.
    static let contents: [Container] = [
        .form, .multipart, .json, .xml, .protobuf, .messagePack, .cbor, .propertyList, .dns,
        .event, .body,
    ]

    /// Whether it is part of a URL, which gets logged.
    var isURL: Bool {
        switch self {
        case .userinfo, .path, .pathParameter, .query, .referer: true
        default: false
        }
    }
}

/// One step that was undone to see a value; the raw values are a contract.
package enum DecodeStep: String, Sendable {
    case percent
    case base64
    case hex
    case json
    case jwt
    case form
    case inflate
    case graphQL = "graphql"
    case protobuf
    case messagePack = "msgpack"
    case cbor
    case propertyList = "plist"
    case dns
}
