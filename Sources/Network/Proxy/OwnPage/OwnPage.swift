package import HTTPModel
package import Sockets

/// What the proxy answers requests to itself with.
package protocol OwnPage: Sendable {
    func response(to request: OwnRequest) -> OwnResponse
}

/// A request to the proxy itself.
package struct OwnRequest: Sendable {
    package let head: RequestHead
    /// Whether it came in TLS, with a certificate of the proxy's CA.
    package let isSecure: Bool
    /// The path with the query.
    package let target: [UInt8]
    /// The address that the client connected to.
    package let address: SocketAddress
    /// The same as it was bound: maybe all addresses of this machine.
    package let listener: SocketAddress

    package init(
        head: RequestHead, isSecure: Bool, target: [UInt8], address: SocketAddress,
        listener: SocketAddress
    ) {
        self.head = head
        self.isSecure = isSecure
        self.target = target
        self.address = address
        self.listener = listener
    }
}

/// A whole response; its length is told for it.
package struct OwnResponse: Sendable, Equatable {
    package let status: Int
    /// Names in lower case, and values that may stand in a head as they are.
    package let fields: [Field]
    package let content: [UInt8]

    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package init(_ status: Int, _ fields: [Field], _ content: [UInt8]) {
        self.status = status
        self.fields = fields
        self.content = content
    }
}
