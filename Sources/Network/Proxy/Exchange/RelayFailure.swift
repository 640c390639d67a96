internal import HTTP2
internal import HTTPCodecs
internal import Origins
internal import Transport

/// Why an exchange cannot go on; says which side is to blame.
///
/// Indirect: failures are rare, and the frame of whatever may wait has room for several.
indirect enum RelayFailure: Error {
    case origin(StreamFailure)
    /// The origin ended where more was due.
    case originEnded
    case originViolation(HTTP1Violation)
    /// The origin's stream of HTTP/2 brings nothing more.
    case originStream(HTTP2StreamFailure)
    /// The origin ended TLS without close_notify where only the end tells that all has come.
    case originTruncated
    /// Whoever answers in the origin's place has no answer.
    case unanswered(ToolResponse)
    case client(StreamFailure)
    case clientStream(HTTP2StreamFailure)
    /// The client ended where more was due.
    case clientEnded
    /// The client has gone while its origin was waited for.
    case clientLeft
    /// The client has given its stream up while its origin was waited for.
    case clientGaveUp
    case clientViolation(HTTP1Violation)

    init(_ failure: OriginReadFailure) {
        self =
            switch failure {
            case .stream(let failure): .origin(failure)
            case .ended: .originEnded
            case .violation(let violation): .originViolation(violation)
            }
    }
}

extension RelayFailure {
    /// Whether the origin went away, as a connection does that was kept for too long.
    var isOriginGone: Bool {
        switch self {
        case .originEnded, .origin(.reset), .origin(.system), .origin(.tls): true
        case .originStream(.connectionLost): true
        default: false
        }
    }

    /// Whether the origin has surely done nothing with the request.
    var isUnprocessed: Bool {
        guard case .originStream(let failure) = self else { return false }
        return failure.isUnprocessed
    }

    /// The code and the words of the record.
    var words: (code: String, detail: String) {
        switch self {
        case .origin(let failure) where demandsCertificate:
            (OriginFailureText.certificateCode, "origin \(failure.detail)")
        case .originStream(let failure) where demandsCertificate:
            (OriginFailureText.certificateCode, "origin \(failure.detail)")
        case .origin(.timedOut): ("origin-timed-out", "origin did not answer in time")
        case .origin(let failure): ("origin-closed", "origin \(failure.detail)")
        case .originStream(.silent), .originStream(.timedOut):
            ("origin-timed-out", "origin did not answer in time")
        case .originStream(.malformed(let detail)):
            ("bad-response", "the origin's response is malformed: \(detail)")
        case .originStream(.reset(let code)):
            ("origin-reset", "origin reset the stream with \(HTTP2ErrorCode.name(code))")
        case .originStream(.connectionLost(.violation(let violation))):
            ("bad-response", "the origin broke HTTP/2: \(violation.detail)")
        case .originStream(.unsent):
            ("head-too-large", "the request's head or trailers are too large for HTTP/2")
        case .clientStream(.unsent):
            ("head-too-large", "the response's head or trailers are too large for HTTP/2")
        case .originStream(let failure): ("origin-closed", "origin \(failure.detail)")
        case .unanswered(let answer): (answer.code, answer.detail)
        case .originTruncated: ("origin-truncated", "origin ended TLS without close_notify")
        case .originEnded:
            ("origin-closed", "origin ended the connection before its response was whole")
        case .originViolation(let violation):
            (
                "bad-response",
                "the origin's response is malformed: \(violation.detail) (\(violation.code))"
            )
        case .client(.timedOut): ("timed-out", "client was silent in the middle of an exchange")
        case .client(let failure): ("client-closed", "client \(failure.detail)")
        case .clientStream(.silent), .clientStream(.timedOut):
            ("timed-out", "client was silent in the middle of an exchange")
        case .clientStream(.malformed(let detail)): ("bad-request", detail)
        case .clientStream(.reset(let code)):
            ("client-reset", "client reset the stream with \(HTTP2ErrorCode.name(code))")
        case .clientStream(.connectionLost(.violation(let violation))):
            ("bad-request", "client broke HTTP/2: \(violation.detail)")
        case .clientStream(let failure): ("client-closed", "client \(failure.detail)")
        case .clientEnded:
            ("client-closed", "client ended the connection in the middle of its request")
        case .clientLeft:
            ("client-closed", "client ended the connection before its response was whole")
        case .clientGaveUp:
            ("client-reset", "client gave the stream up before its response was whole")
        case .clientViolation(let violation): (violation.recordedCode, violation.detail)
        }
    }

    var isTimeout: Bool { words.code == "origin-timed-out" }

    /// Whether it is the client that brings or takes nothing more.
    var isClients: Bool {
        switch self {
        case .client, .clientStream, .clientEnded, .clientLeft, .clientGaveUp, .clientViolation:
            true
        default: false
        }
    }

    /// Whether nothing more is to be expected of the origin once sending to it has failed so: one
    /// that stops listening may still have said why.
    var endsReception: Bool {
        if case .origin = self { return !isOriginGone }
        return isClients
    }
}

extension HTTP1Violation {
    /// The code that the record of such a request has.
    var recordedCode: String { isSmuggling ? "request-smuggling" : "bad-request" }
}
