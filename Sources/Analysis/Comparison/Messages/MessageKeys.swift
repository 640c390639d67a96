internal import Base
internal import Contents
internal import Replay
internal import Traffic

/// What messages are aligned by, as hashes, which are seeded for each run.
struct MessageKeys {
    private let side: ReplayRule.Side
    private let rules: ReplayRules
    private let hasRules: Bool

    init(_ side: Difference.Side, _ rules: ReplayRules) {
        self.side = side.rule
        self.rules = rules
        hasRules = rules.rules.contains {
            if case .body = $0.part { true } else { false }
        }
    }

    /// The same for messages of which all that counts is the same.
    func content(_ message: ComparedMessage) -> Int {
        var hasher = Hasher()
        hasher.combine(message.kind)
        hasher.combine(message.labels)
        if message.kind != .grpc, message.isWhole, let document = JSONDocument(message.bytes) {
            hasher.combine(1)
            hash(document, JSONDocument.root, "$", into: &hasher)
        } else {
            hasher.combine(message.size)
            hasher.combine(message.hash)
        }
        return hasher.finalize()
    }

    private func hash(
        _ document: JSONDocument, _ place: Int, _ path: String, into hasher: inout Hasher
    ) {
        guard hasRules else { return document.hash(place, into: &hasher) }
        guard !rules.ignores(side, .body(path)) else { return }
        switch document[place].kind {
        case .array:
            hasher.combine(2)
            for (index, element) in document.elements(of: place).enumerated() {
                hash(document, element, "\(path)[\(index)]", into: &hasher)
            }
        case .object:
            hasher.combine(3)
            for member in document.members(of: place) {
                let inner = path + JSONPath.step(document.key(of: member.name)).text
                guard !rules.ignores(side, .body(inner)) else { continue }
                hasher.combine(inner)
                hash(document, member.value, inner, into: &hasher)
            }
        default: document.hash(place, into: &hasher)
        }
    }

    /// The same for messages that say something about the same: of one kind, and with the same
    /// words in the members that tell what a message is for.
    func sort(_ message: ComparedMessage) -> Int {
        var hasher = Hasher()
        hasher.combine(message.kind)
        for label in message.labels where label.name == "event" { hasher.combine(label) }
        guard message.kind != .grpc, message.isWhole, let document = JSONDocument(message.bytes)
        else { return hasher.finalize() }
        hasher.combine(document[JSONDocument.root].kind)
        for name in Self.sortNames {
            guard let member = document.member(name, of: JSONDocument.root),
                document[member].kind == .string
            else { continue }
            hasher.combine("\(name)")
            document.hash(member, into: &hasher)
        }
        return hasher.finalize()
    }

    private static let sortNames: [StaticString] = [
        "type", "event", "op", "method", "action", "kind", "topic", "channel",
    ]
}
