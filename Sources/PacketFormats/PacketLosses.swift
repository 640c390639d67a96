internal import Formats

/// What a file of packets cannot keep of a capture, or a capture of a file of packets.
extension LossKind {
    static let packetsMade = LossKind(
        "packets-made",
        "packets are made from what was recorded: their cuts, handshakes and sequence numbers are "
            + "not those of the wire")
    static let contentLeftOut = LossKind(
        "content-left-out", "keys and contents are left out, and secrets are masked")
    static let contentCut = LossKind(
        "content-cut", "a content was not recorded whole, and ends early")
    static let withoutConnection = LossKind(
        "exchange-without-connection", "an exchange has no connection, and is left out")
    static let withoutAddress = LossKind(
        "connection-without-address", "a connection has no addresses, and is left out")
    static let legLeftOut = LossKind(
        "leg-without-content",
        "a leg cannot be sealed anew, because its keys are not known or its suite is not supported")
    static let frameLeftOut = LossKind(
        "frame-left-out", "a frame of HTTP/2 that is part of no exchange is left out")
}
