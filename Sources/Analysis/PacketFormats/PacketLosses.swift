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

    // MARK: Import

    static let notDecrypted = LossKind(
        "tls-not-decrypted", "a connection in TLS could not be decrypted, and its content is lost")
    static let http2WithoutBeginning = LossKind(
        "http2-without-beginning",
        "HTTP/2 cannot be read without its beginning, and is kept as bytes")
    static let pushLeftOut = LossKind(
        "push-left-out",
        "a response that the server pushed is left out, because its promise was not caught")
    static let responseWithoutRequest = LossKind(
        "response-without-request", "a response is left out, because its request was not caught")
    static let requestsUnanswered = LossKind(
        "requests-unanswered",
        "requests are left out, because the answers to 256 before them were not caught")
    static let tooManyStreams = LossKind(
        "streams-beyond-limit",
        "a stream of HTTP/2 is left out, because 1,024 others went on beside it")
    static let packetsMissing = LossKind(
        "packets-missing", "packets of a connection are missing, and what follows them is lost")
    static let packetNotRead = LossKind(
        "packet-not-read",
        "a packet is cut, lacks fragments, or is of a link or a protocol that is not read")
    static let notIP = LossKind("not-ip", "a packet carries no IP")
    static let datagramsLeftOut = LossKind(
        "datagrams-left-out",
        "of a flow of UDP, what is behind the first MiB or 4,096 datagrams is left out")
    static let malformedHTTP = LossKind(
        "http-malformed", "what was spoken is no sound HTTP, and its rest is lost")
    static let upgradeAsSegments = LossKind(
        "upgrade-as-segments", "what follows an upgrade is kept as bytes, and not as its messages")
    static let tooManyWebSockets = LossKind(
        "websockets-beyond-limit",
        "a WebSocket is kept as bytes, because 512 compressed ones went on beside it")
    static let sameInOtherForm = LossKind(
        "other-interface", "a packet shows what another interface of the same export shows as well")
}
