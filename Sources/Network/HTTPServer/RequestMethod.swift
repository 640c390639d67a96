internal import Base

/// A request method: any token, compared with its case (RFC 9110 §9.1).
package struct RequestMethod: Sendable, Hashable {
    package let name: [UInt8]

    package init(_ name: some Sequence<UInt8>) {
        self.name = [UInt8](name)
    }

    package var text: String { name.text }

    package static let get = RequestMethod("GET".utf8)
    package static let head = RequestMethod("HEAD".utf8)
    package static let post = RequestMethod("POST".utf8)
    package static let put = RequestMethod("PUT".utf8)
    package static let patch = RequestMethod("PATCH".utf8)
    package static let delete = RequestMethod("DELETE".utf8)
    package static let options = RequestMethod("OPTIONS".utf8)
    package static let connect = RequestMethod("CONNECT".utf8)

    /// Whether the method is GET or HEAD, for which a failed cache condition means 304.
    package var isRetrieval: Bool { self == .get || self == .head }
}
