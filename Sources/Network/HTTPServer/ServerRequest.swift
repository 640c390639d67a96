package import Base
package import HTTPModel

/// A request as a route sees it: everything but the body, which is pulled from `RequestBody`.
package struct ServerRequest: Sendable {
    package enum Scheme: String, Sendable {
        case http
        case https
    }

    package let method: RequestMethod
    package let path: RequestPath
    /// The host that the client named, in lower case and without a port; `nil` if it did not.
    package let host: String?
    package let version: HTTPVersion
    package let fields: Fields
    package let connection: ClientConnection
    /// When the head was complete: the only clock that pure code reads.
    package let receivedAt: Timestamp
    /// What the route's pattern found in the path.
    package internal(set) var match = PathMatch()

    package init(
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
