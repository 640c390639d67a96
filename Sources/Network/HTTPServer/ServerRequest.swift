package import Base
package import HTTPModel

/// A request as a route sees it: everything but the body, which is pulled from `RequestBody`.
package struct ServerRequest: Sendable {
    package enum Scheme: String, Sendable {
        case http
        case https
    }

    /// What came, which every layer on the way to the route passes on: as one object, so that a
    /// copy of the request costs one count and not a dozen.
    private final class Content: Sendable {
        let method: RequestMethod
        let path: RequestPath
        let host: String?
        let version: HTTPVersion
        let fields: Fields
        let connection: ClientConnection
        let receivedAt: Timestamp

        init(
            method: RequestMethod, path: RequestPath, host: String?, version: HTTPVersion,
            fields: Fields, connection: ClientConnection, receivedAt: Timestamp
        ) {
            self.method = method
            self.path = path
            self.host = host
            self.version = version
            self.fields = fields
            self.connection = connection
            self.receivedAt = receivedAt
        }
    }

    private let content: Content
    /// What the route's pattern found in the path.
    package internal(set) var match = PathMatch()

    package init(
        method: RequestMethod, path: RequestPath, host: String?, version: HTTPVersion,
        fields: Fields, connection: ClientConnection, receivedAt: Timestamp
    ) {
        content = Content(
            method: method, path: path, host: host, version: version, fields: fields,
            connection: connection, receivedAt: receivedAt)
    }

    package var method: RequestMethod { content.method }
    package var path: RequestPath { content.path }
    /// The host that the client named, in lower case and without a port; `nil` if it did not.
    package var host: String? { content.host }
    package var version: HTTPVersion { content.version }
    package var fields: Fields { content.fields }
    package var connection: ClientConnection { content.connection }
    /// When the head was complete: the only clock that pure code reads.
    package var receivedAt: Timestamp { content.receivedAt }

    /// The same request for another path or with other fields.
    package func replacing(path: RequestPath? = nil, fields: Fields? = nil) -> ServerRequest {
        ServerRequest(
            method: method, path: path ?? self.path, host: host, version: version,
            fields: fields ?? self.fields, connection: connection, receivedAt: receivedAt)
    }

    package var scheme: Scheme { connection.security == nil ? .http : .https }

    /// The receipt in whole seconds, as HTTP dates count.
    package var date: HTTPDate { HTTPDate(receivedAt) }
}
