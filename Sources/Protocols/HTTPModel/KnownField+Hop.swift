extension KnownField {
    /// Fields that belong to one connection, and do not pass on (RFC 9110 §7.6.1).
    private static let hopByHop: [KnownField] = [
        .connection, .keepAlive, .proxyConnection, .te, .trailer, .transferEncoding, .upgrade,
    ]

    /// Their names, in lower case.
    package static let hopByHopNames = Set(hopByHop.map { $0.name.description })

    package var isHopByHop: Bool { isOfConnection || self == .te || self == .trailer }

    /// Whether it has no place in HTTP/2, where it makes a message malformed (RFC 9113 §8.2.2).
    package var isOfConnection: Bool {
        switch self {
        case .connection, .keepAlive, .proxyConnection, .transferEncoding, .upgrade: true
        default: false
        }
    }
}
