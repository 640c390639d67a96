internal import Traffic

/// A way to an origin, for one request.
enum ClientConnection {
    case http1(ClientLeg)
    /// With the right to one stream.
    case http2(HTTP2ClientLeg)

    var id: Int64 {
        switch self {
        case .http1(let leg): leg.record.id
        case .http2(let leg): leg.record.id
        }
    }

    /// The number of the next message that is recorded of it; those of all its exchanges are counted
    /// together.
    func nextMessage() -> Int64 {
        switch self {
        case .http1(let leg):
            leg.record.messageCount += 1
            return leg.record.messageCount
        case .http2(let leg):
            leg.record.messageCount += 1
            return leg.record.messageCount
        }
    }

    /// Whether it had served another exchange before this one was given to it.
    var isUsed: Bool {
        switch self {
        case .http1(let leg): leg.isUsed
        case .http2(let leg): leg.record.exchangeCount > 1
        }
    }
}
