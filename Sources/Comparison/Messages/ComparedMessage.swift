internal import Base
internal import Traffic

/// A message as it is compared: of a WebSocket, of an event stream, of gRPC.
struct ComparedMessage: Equatable {
    let kind: MessageRecord.Kind
    /// Without framing; of an event, its data.
    var bytes: [UInt8] = []
    /// The bytes that passed.
    var size: Int64 = 0
    /// Whether all of it is in `bytes`.
    var isWhole = true
    /// The bytes as a dialogue of commands may show them; `nil` if as they are.
    var masked: [UInt8]?
    /// What goes with the content, by name: the code of a close, an event's type.
    var labels: [Label] = []

    struct Label: Hashable {
        let name: String
        let value: String
    }

    init(_ kind: MessageRecord.Kind) {
        self.kind = kind
    }
}

/// The messages of one direction, and what is known of those past the limits.
struct ComparedMessages {
    var messages: [ComparedMessage] = []
    /// How many more there are.
    private(set) var restCount = 0
    private(set) var restSize: Int64 = 0
    /// A digest over all that they hold.
    private(set) var restDigest: [UInt8] = []

    mutating func appendToRest(
        _ part: MessageRecord, isNew: Bool, sha256: ([UInt8]) -> [UInt8]
    ) {
        if isNew { restCount += 1 }
        restSize = restSize.addingReportingOverflow(part.size).partialValue
        restDigest = sha256(restDigest + part.bytes)
    }

    /// `nil` if there are none.
    var rest: String? {
        restCount == 0
            ? nil
            : "\(restCount) more, \(restSize) bytes, digest \(restDigest.prefix(8).hex)"
    }
}
