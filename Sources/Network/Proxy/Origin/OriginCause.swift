internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import Origins
internal import TLS
internal import Traffic
internal import Transport

/// What a failure of an origin says of the client's connection, the same in whatever way it came in
/// and whatever version of HTTP is spoken.
extension RelayFailure {
    /// How the connection is judged; `nil` if the origin is not to blame, or a single stream failed,
    /// which leaves the connection as it was.
    var outcome: ConnectionRecord.Outcome? {
        if demandsCertificate { return .originHandshakeFailed }
        return switch self {
        case .origin(.timedOut), .originStream(.silent), .originStream(.timedOut): .timedOut
        case .origin(.closed), .originStream(.reset), .originStream(.stopped),
            .originStream(.unsent):
            nil
        case .origin, .originEnded, .originViolation, .originStream, .originTruncated: .broken
        case .unanswered, .client, .clientStream, .clientEnded, .clientLeft, .clientGaveUp,
            .clientViolation:
            nil
        }
    }

    /// Whether the origin wants a certificate of the client: in TLS 1.3 it says so when the
    /// handshake is done for us, and the first response is due.
    var demandsCertificate: Bool {
        streamFailure?.demandsCertificate ?? false
    }

    /// What went wrong below HTTP.
    var streamFailure: StreamFailure? {
        switch self {
        case .origin(let failure), .originStream(.connectionLost(.failed(let failure))): failure
        default: nil
        }
    }

    /// The same with what there is of a response's head, whole or not.
    func words(responseHead: [UInt8]) -> (code: String, detail: String) {
        if case .originEnded = self, responseHead.isEmpty {
            return (words.code, "origin ended the connection without a response")
        }
        guard case .originViolation = self, !responseHead.isEmpty,
            !responseHead.starts(with: "HTTP/".utf8)
        else { return words }
        let spoken = ForeignProtocol(responseHead)
        guard let name = spoken.name else {
            return (words.code, "\(words.detail): it begins with \(spoken.quoted)")
        }
        return (words.code, "origin answered HTTP with \(name): \(spoken.quoted)")
    }
}
