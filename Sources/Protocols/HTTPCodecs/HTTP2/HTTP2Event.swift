package import HTTPModel

/// What a peer said on a connection of HTTP/2.
package enum HTTP2Event: Sendable {
    /// A request, a final response or an interim one.
    case head(stream: Int32, HTTP2Head)
    case content(stream: Int32, [UInt8])
    case trailers(stream: Int32, Fields)
    /// The peer ended its direction of the stream.
    case ended(stream: Int32)
    /// Both directions are over; `code` is 0 for an end in order (RFC 9113 §7).
    case closed(stream: Int32, code: UInt32)
    case settings(HTTP2PeerSettings)
    /// The peer takes no streams above `last` any more (RFC 9113 §6.8).
    case goAway(last: Int32, code: UInt32)
    /// A request that a server expects, and will answer on `stream` (RFC 9113 §8.4); `flaw` says
    /// why it is not allowed. No session tells it: they turn pushes off.
    case promise(stream: Int32, HTTP2Head, flaw: String?)
    /// A header block that RFC 9113 §8 does not allow; its stream is reset.
    case malformed(stream: Int32, HTTP2Head, detail: String)
    /// Frames of an open stream break the protocol, which is reset for it.
    case violated(stream: Int32, detail: String)
    /// A header block of ours is too large to be sent; its stream is given up.
    case unsent(stream: Int32)
}

/// What a peer wants that the other leg has to know.
package struct HTTP2PeerSettings: Sendable, Equatable {
    package var allowsExtendedConnect = false
    package var concurrentStreamLimit = UInt32.max

    package init() {}

    init(allowsExtendedConnect: Bool, concurrentStreamLimit: UInt32) {
        self.allowsExtendedConnect = allowsExtendedConnect
        self.concurrentStreamLimit = concurrentStreamLimit
    }
}

/// Why a connection of HTTP/2 cannot go on.
package enum HTTP2Violation: Error, Sendable, Equatable {
    /// The first bytes are no preface.
    case badPreface
    case flood(HTTP2Flood)
    /// A frame broke the protocol; our GOAWAY says the same.
    case broken(String)

    package var detail: String {
        switch self {
        case .badPreface: "the connection does not begin with the preface of HTTP/2"
        case .flood(let flood): flood.detail
        case .broken(let detail): detail
        }
    }

    /// Stable, for the record.
    package var code: String {
        switch self {
        case .badPreface: "h2-bad-preface"
        case .flood(let flood): flood.code
        case .broken: "h2-protocol-error"
        }
    }
}

/// The codes of RST_STREAM and GOAWAY (RFC 9113 §7).
package enum HTTP2ErrorCode {
    package static let noError: UInt32 = 0
    package static let protocolError: UInt32 = 1
    package static let internalError: UInt32 = 2
    package static let flowControlError: UInt32 = 3
    package static let refusedStream: UInt32 = 7
    package static let cancel: UInt32 = 8
    package static let enhanceYourCalm: UInt32 = 11

    /// As RFC 9113 §7 names it.
    package static func name(_ code: UInt32) -> String {
        let names = [
            "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR",
            "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL",
            "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY",
            "HTTP_1_1_REQUIRED",
        ]
        return code < UInt32(names.count) ? names[Int(code)] : "error \(code)"
    }
}

/// The bounds of what a peer can make one end hold.
package struct HTTP2Limits: Sendable {
    /// Streams that the peer may have open at once (RFC 9113 §6.5.2).
    package var concurrentStreams: UInt32 = 128
    /// Content of one stream that was received and not passed on, in bytes.
    package var streamWindow: Int32 = 256 << 10
    /// The same of all streams.
    package var connectionWindow: Int32 = 1 << 20
    /// A decoded header block, as RFC 9113 §6.5.2 counts it, in bytes.
    package var headSize = 64 << 10
    /// Interim responses to one request; more are an attack.
    package var interimCount = InterimLimits.count
    /// The same in bytes, decoded.
    package var interimSize = InterimLimits.size
    /// Interim responses of all streams that nobody has taken yet, in bytes.
    package var waitingInterimSize = 1 << 20

    package init() {}
}
