internal import Base

/// What turns raw bytes into evidence: the run's key, and what must not appear in any name.
struct EvidenceRedaction: Sendable {
    let digests: DigestFunctions
    /// The run's key in memory only, so that a tag means nothing outside of the run.
    let runKey: [UInt8]
    /// Finds the subject's values in every encoding; `nil` without a profile.
    let planted: PlantedAutomaton?
    /// How the secrets of the exchange at hand begin, which no name and no path segment may show.
    private var secrets = Set<[UInt8]>()

    init(digests: DigestFunctions, runKey: [UInt8], planted: PlantedAutomaton?) {
        self.digests = digests
        self.runKey = runKey
        self.planted = planted
    }

    /// The same, which also knows the secrets of an exchange.
    func hiding(_ secrets: [[UInt8]]) -> EvidenceRedaction {
        var result = self
        for secret in secrets where secret.count >= Self.shortestHidden {
            result.secrets.insert(Array(secret.prefix(Self.comparedCount)))
        }
        return result
    }

    /// Stands for a value in memory: a shorter tag, for what is compared for every exchange.
    func hash(of value: [UInt8]) -> UInt64 {
        // The standard library's own key is random as well.
        var hasher = Hasher()
        hasher.combine(runKey)
        hasher.combine(value)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    /// What stands for a name or a segment that must not be shown, `nil` if it may be.
    ///
    /// It takes as long as the piece is long, for each secret: bound the piece.
    func substitute(for piece: [UInt8]) -> String? {
        let decoded = PercentCoding.decoded(piece[...], plusIsSpace: true)
        if let planted, planted.occurs(in: piece) || planted.occurs(in: decoded) {
            return "{planted}"
        }
        for secret in secrets {
            if piece.contains(run: secret) || decoded.contains(run: secret) { return "{secret}" }
        }
        return nil
    }

    /// In bytes. Shorter secrets would blank every name that happens to hold them.
    private static let shortestHidden = 4
    /// In bytes. What begins with as many of a secret is taken for it.
    private static let comparedCount = 32
}
