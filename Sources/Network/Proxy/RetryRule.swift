/// Whether a request whose exchange failed is sent again; one rule for all versions of HTTP on both
/// legs.
struct RetryRule {
    /// Whether the request may be sent again if it may have been processed: it has no content, and
    /// no effect that would be had twice (RFC 9110 §9.2.2, RFC 9112 §9.3.1).
    let isRepeatable: Bool
    /// Whether the client takes us for its origin: what befell the origin's connection is shown to
    /// it, and not repaired behind its back.
    let mirrorsOrigin: Bool
    private var retryCount = 0

    /// An origin that refuses more often has its reasons.
    private static let retryLimit = 2

    init(isRepeatable: Bool, mirrorsOrigin: Bool) {
        self.isRepeatable = isRepeatable
        self.mirrorsOrigin = mirrorsOrigin
    }

    /// What had happened when an attempt failed.
    struct Attempt {
        /// Whether the connection had served another exchange, and may have died since.
        let isOnUsedConnection: Bool
        /// Whether the client has begun to get a final response.
        let hasResponseBegun: Bool
        /// Whether some of the request's content was taken from the client: it cannot be had again.
        let hasTakenContent: Bool
        /// Whether the proxy has no time left.
        let isCut: Bool
    }

    /// Judges a failure, and counts the retry if there is one.
    mutating func allows(_ attempt: Attempt, after failure: RelayFailure) -> Bool {
        guard !attempt.hasResponseBegun, !attempt.hasTakenContent, !attempt.isCut, !mirrorsOrigin,
            retryCount < Self.retryLimit
        else { return false }
        // RFC 9113 §8.7: what was surely not processed may be sent again whatever it asks for.
        let isSafe =
            failure.isUnprocessed
            || isRepeatable && attempt.isOnUsedConnection && failure.isOriginGone
        if isSafe { retryCount += 1 }
        return isSafe
    }
}
