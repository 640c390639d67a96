/// What a dialogue came to at a byte.
enum DialogueEvent: Equatable {
    /// All bytes were looked at.
    case nothing
    /// A line of the client ended: what follows may be anything.
    case boundary
    /// The client has asked for TLS and must wait for the answer.
    case asked(command: String)
    /// The origin has agreed: the client's next byte is TLS.
    case accepted
    /// The origin has refused: it goes on in plain.
    case refused(answer: String)
    /// The client's next byte is TLS, without an answer.
    case secured(command: String)
    /// Nothing that follows can be understood, or needs to be.
    case settled
}

/// A protocol's plain dialogue, watched for the switch to TLS.
///
/// Both functions look at the bytes from `index` on and stop behind the one at which something
/// happened. Memory is bounded whatever comes.
protocol Dialogue {
    mutating func client(
        _ bytes: Span<UInt8>, _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent

    mutating func origin(
        _ bytes: Span<UInt8>, _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent

    var protocolName: String? { get }
    /// Whether the client's next byte may begin something new.
    var isBetweenMessages: Bool { get }
}

/// A dialogue that is not followed.
struct UnfollowedDialogue: Dialogue {
    let protocolName: String?

    mutating func client(
        _ bytes: Span<UInt8>, _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        index = bytes.count
        return .nothing
    }

    mutating func origin(
        _ bytes: Span<UInt8>, _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        index = bytes.count
        return .nothing
    }

    var isBetweenMessages: Bool { true }
}

/// Visible ASCII of a peer's bytes, at most 128; other bytes become `?`.
func shownText(_ bytes: some Collection<UInt8>) -> String {
    String(
        decoding: bytes.prefix(128).map { $0 >= 0x20 && $0 < 0x7F ? $0 : 0x3F }, as: UTF8.self)
}
