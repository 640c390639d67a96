internal import Base
internal import Traffic

/// A message as it is compared: of a WebSocket, of an event stream, of gRPC.
struct ComparedMessage: Equatable {
    let kind: MessageRecord.Kind
    /// Without framing; of an event, its data.
    var bytes: [UInt8] = []
    /// The bytes that passed.
    var size: Int64 = 0
    /// All that was recorded, hashed, if `bytes` do not hold all that passed.
    private var hasher: Hasher?
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

    /// Whether all of it is in `bytes`.
    var isWhole: Bool { hasher == nil }

    static func == (left: ComparedMessage, right: ComparedMessage) -> Bool {
        left.kind == right.kind && left.labels == right.labels && left.holdsSame(as: right)
    }

    /// Whether what was recorded of two messages is the same.
    func holdsSame(as other: ComparedMessage) -> Bool {
        guard size == other.size else { return false }
        return isWhole && other.isWhole ? bytes == other.bytes : hash == other.hash
    }

    /// A hash over all that was recorded, seeded for each run.
    var hash: Int { (hasher ?? started).finalize() }

    private var started: Hasher {
        var hasher = Hasher()
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        return hasher
    }

    /// Takes bytes that are not to be held.
    mutating func passOver(_ part: [UInt8]) {
        var passed = hasher ?? started
        unsafe part.withUnsafeBytes { unsafe passed.combine(bytes: $0) }
        hasher = passed
    }
}

/// The messages of one direction, and what is known of those past the limits.
struct ComparedMessages: Equatable {
    var messages: [ComparedMessage] = []
    /// How many more there are.
    private(set) var restCount = 0
    private(set) var restSize: Int64 = 0
    /// A digest over all that they hold.
    private(set) var restDigest: [UInt8] = []

    var isEmpty: Bool { messages.isEmpty && restCount == 0 }

    /// Adds a whole message.
    mutating func append(_ message: ComparedMessage, _ configuration: ComparisonConfiguration) {
        guard messages.count >= configuration.messageLimit else { return messages.append(message) }
        let labels = message.labels.flatMap { "\($0.name) \($0.value)\n".utf8 }
        appendToRest(
            labels + message.bytes, size: message.size, isNew: true, sha256: configuration.sha256)
    }

    mutating func appendToRest(
        _ part: [UInt8], size: Int64, isNew: Bool, sha256: ([UInt8]) -> [UInt8]
    ) {
        if isNew { restCount += 1 }
        restSize = restSize.addingSaturated(size)
        restDigest = sha256(restDigest + part)
    }

    /// `nil` if there are none.
    var rest: String? {
        restCount == 0
            ? nil
            : "\(restCount) more, \(restSize) bytes, digest \(restDigest.prefix(8).hex)"
    }
}
