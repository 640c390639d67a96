/// What a peer did that the WebSocket protocol does not allow, one case a shape (RFC 6455,
/// RFC 7692).
///
/// The raw value is the stable code.
package enum WebSocketViolation: String, Error, Sendable, Equatable, CaseIterable {
    // Heads of frames
    case reservedBits = "reserved-bits"
    case reservedOpcode = "reserved-opcode"
    case unmaskedClientFrame = "unmasked-client-frame"
    case maskedServerFrame = "masked-server-frame"
    case fragmentedControl = "fragmented-control"
    case controlTooLong = "control-too-long"
    case invalidLength = "invalid-length"
    // The order of frames
    case unexpectedContinuation = "unexpected-continuation"
    case missingContinuation = "missing-continuation"
    case dataAfterClose = "data-after-close"
    // Content
    case invalidClosePayload = "invalid-close-payload"
    case invalidText = "invalid-text"
    case invalidDeflate = "invalid-deflate"
    case inflatesTooFar = "inflates-too-far"

    /// A stable word that programs may compare.
    package var code: String { rawValue }

    /// What happened, for people only.
    package var detail: String {
        switch self {
        case .reservedBits: "a frame has a reserved bit set that no extension explains"
        case .reservedOpcode: "a frame's opcode is reserved"
        case .unmaskedClientFrame: "a frame from the client is not masked"
        case .maskedServerFrame: "a frame from the server is masked"
        case .fragmentedControl: "a control frame is fragmented"
        case .controlTooLong: "a control frame's payload is longer than 125 bytes"
        case .invalidLength: "a frame's length is 2^63 or more, or longer written than it must be"
        case .unexpectedContinuation: "a continuation frame continues nothing"
        case .missingContinuation: "a message begins before the one before it has ended"
        case .dataAfterClose: "a message follows a close frame"
        case .invalidClosePayload: "a close frame's payload has no valid code"
        case .invalidText: "a text message or a close reason is not UTF-8"
        case .invalidDeflate: "a compressed message is no deflate data, or ends too early"
        case .inflatesTooFar: "a compressed message is larger than what is unpacked of one"
        }
    }
}
