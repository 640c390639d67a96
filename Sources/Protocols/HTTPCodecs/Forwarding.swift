internal import Base
internal import HTTPModel

/// How a head that came in is written again for the next hop.
///
/// The head itself stays as it is: what goes out is another value.
package struct Forwarding: Sendable {
    /// What the framing fields say on the way out.
    package enum Framing: Sendable, Equatable {
        /// Content-Length, Transfer-Encoding and Trailer as they came.
        case asCame
        case length(UInt64)
        case chunked
        /// Without any; responses only, and only with `closes`.
        case untilClose
    }

    package var framing = Framing.asCame
    /// Says HTTP/1.0 where that came, and spells a connection option as it came: as between a client and a server that know of nobody between.
    package var keepsVersion = false
    /// Passes the Upgrade field on, with the connection option that goes with it.
    package var keepsUpgrade = false
    /// Passes Proxy-Authorization and Proxy-Authenticate on, as between a client and a proxy of its
    /// own that we are not.
    package var keepsProxyFields = false
    /// Says `Connection: close`.
    package var closes = false
    /// Says `Connection: keep-alive`, which a client of HTTP/1.0 waits for; `closes` wins.
    package var keepsAlive = false
    /// Replaces the value of the request's Host in place; written first if there is none.
    package var host: [UInt8]?
    /// Writes several Cookie fields as one, as HTTP/1 wants them (RFC 9113 §8.2.3).
    package var joinsCookies = false
    /// Names, in lower case, of more fields that do not go out.
    package var dropping: [StaticString] = []
    /// Fields that are written behind those that came.
    package var adding: [AddedField] = []

    package init(
        framing: Framing = .asCame, keepsVersion: Bool = false, keepsUpgrade: Bool = false,
        keepsProxyFields: Bool = false,
        closes: Bool = false, keepsAlive: Bool = false, host: [UInt8]? = nil,
        joinsCookies: Bool = false,
        dropping: [StaticString] = [],
        adding: [AddedField] = []
    ) {
        self.framing = framing
        self.keepsVersion = keepsVersion
        self.keepsUpgrade = keepsUpgrade
        self.keepsProxyFields = keepsProxyFields
        self.closes = closes
        self.keepsAlive = keepsAlive
        self.host = host
        self.joinsCookies = joinsCookies
        self.dropping = dropping
        self.adding = adding
    }
}

/// A field of our own making, which cannot break out of its line.
package struct AddedField: Sendable, Equatable {
    package let name: [UInt8]
    package let value: [UInt8]

    /// Without blanks at the ends of the value, which HTTP/2 does not allow (RFC 9113 §8.2.1); `nil` if
    /// the name is no token or the value holds a control character.
    package init?(_ name: some Collection<UInt8>, _ value: some Collection<UInt8>) {
        guard !name.isEmpty, name.allSatisfy(\.isTokenByte) else { return nil }
        guard !value.contains(where: \.isForbiddenInValue) else { return nil }
        self.name = Array(name)
        self.value = Array(Array(value)[...].trimmingWhitespace)
    }
}
