/// What a conversion to or from a dump of mitmproxy may lose, besides what one of HAR may.
extension LossKind {
    static let connectionLeftOut = LossKind(
        "connection-left-out", "a connection on which nothing was said has no flow")
    static let messageLeftOut = LossKind(
        "message-left-out", "a message that is no text or binary one of a WebSocket has no place")
    static let closeAnswerLeftOut = LossKind(
        "close-answer-left-out", "of the closes of a WebSocket, the first alone has a place")
    static let segmentParted = LossKind(
        "segment-parted", "what was said after an upgrade stands in a flow of its own")
    static let messageMerged = LossKind(
        "message-merged", "a message that is not over, or was recorded in part, is written as whole"
    )
    static let contentCut = LossKind(
        "content-cut", "a content was recorded in part, and that part is written as if it were all")
    static let certificateLeftOut = LossKind(
        "certificate-left-out", "a broken certificate is left out, as mitmproxy would not read it")

    static let codingLeftOut = LossKind(
        "coding-left-out", "a content in which secrets are masked is written without its coding")

    static let flowLeftOut = LossKind("flow-left-out", "a flow of DNS or UDP is not kept")
    static let flowTooLong = LossKind(
        "flow-too-long", "a flow is left out, as it is over 512 MiB; pcapng holds more")
    static let versionUnknown = LossKind(
        "version-unknown", "a flow of a newer version was read as far as it is like those before")
    static let marksLeftOut = LossKind(
        "marks-left-out", "marks, and whether a flow was intercepted or replayed, are not kept")
    static let editsLeftOut = LossKind(
        "edits-left-out", "what a flow was before it was edited is not kept")
    static let metadataLeftOut = LossKind("metadata-left-out", "a flow's metadata are not kept")
    static let connectionsMerged = LossKind(
        "connections-merged", "of several origins' connections of a client's, the first is kept")
    static let connectionDetailsLeftOut = LossKind(
        "connection-details-left-out",
        "what TLS was offered, a client's certificate, and an upstream proxy are not kept")
    static let messageChanged = LossKind(
        "message-changed", "that a message was dropped or made up by mitmproxy is not kept")
    static let headEdited = LossKind(
        "head-edited", "a head was edited since its export, so that its spelling is lost")
    static let handshakeMissing = LossKind(
        "handshake-missing", "a WebSocket's handshake is not in the file before its messages")
}
