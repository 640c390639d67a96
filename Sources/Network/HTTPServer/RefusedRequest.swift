package import HTTPModel

/// A request that was refused ahead of any route: it could not be read, or is not served.
package struct RefusedRequest: Sendable {
    package let status: Int
    /// What came of its head, within a bound: it may be neither whole nor well-formed.
    package let head: [UInt8]
    package let version: HTTPVersion
    package let connection: ClientConnection

    package init(
        status: Int, head: [UInt8], version: HTTPVersion, connection: ClientConnection
    ) {
        self.status = status
        self.head = Array(head.prefix(Self.limit))
        self.version = version
        self.connection = connection
    }

    /// In bytes: as much as a head may have in most servers.
    private static let limit = 16_384
}
