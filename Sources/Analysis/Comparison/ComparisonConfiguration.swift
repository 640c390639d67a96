package import Replay

/// What counts when captures are compared, and what a report may show.
package struct ComparisonConfiguration: Sendable {
    /// What counts for nothing; shared with replay.
    package var rules = ReplayRules()
    /// Whether values are shown that their names call secret.
    package var withSecrets = false
    /// Whether differences are told that do not count, and pairs that have no other.
    package var withNotes = false
    /// Whether values count that the origins made up.
    package var countsMadeUpValues = false
    /// What stands for what, as far as it was learned.
    var renaming = Renaming()
    /// The digest by which a report names a content that it does not show.
    package var sha256: @Sendable ([UInt8]) -> [UInt8]
    /// In bytes, before decoding and after: a longer content is compared as bytes, since what it
    /// takes to take it apart grows with it.
    package var contentLimit = 1 << 20
    /// How many messages of one direction of an exchange are told apart, of a WebSocket, an event
    /// stream or gRPC, and the rest by a digest; what they hold together is
    /// bound by `contentLimit`.
    package var messageLimit = 1000
    /// How many differences of one exchange are told.
    package var differenceLimit = 100
    /// How many exchanges are told; all are counted.
    package var entryLimit = 5000

    package init(sha256: @escaping @Sendable ([UInt8]) -> [UInt8]) {
        self.sha256 = sha256
    }

    func ignoresField(_ side: ReplayRule.Side, _ name: String) -> Bool {
        if rules.ignores(side, .header(name)) { return true }
        return PassingFields.madeUp.contains(name) && !rules.matches(header: name)
    }
}

extension Difference.Side {
    var rule: ReplayRule.Side { self == .response ? .response : .request }
}
