package import Base

/// Which of several recorded responses to equal requests comes next; the raw values are words of
/// the command line.
package enum ReplayOrder: String, Sendable, CaseIterable {
    /// Each once, in the order of the recording; then there is none any more.
    case sequence
    /// The same, and then the last for ever.
    case stay
    /// The same, and then from the start.
    case cycle
    case first
    case last
}

/// How a capture is answered from.
package struct ReplayOptions: Sendable {
    package var rules = ReplayRules()
    package var order = ReplayOrder.sequence
    /// What the recorded times are multiplied with, in thousandths; 0 answers at once.
    package var timing: Int64 = 0
    /// What recorded times are waited for by.
    package var now: @Sendable () -> MonotonicTime = { .now() }
    /// Whether dates in responses are as far from now as they were from the recording.
    package var refreshesDates = false
    /// Of one request's content, in bytes: what is longer is known by its digest alone.
    package var contentLimit = 1 << 20
    /// Of responses that are held to be given again, in bytes.
    package var heldLimit = 64 << 20
    /// Of one stream that is played message by message, in bytes.
    package var scriptLimit = 64 << 20

    package init() {}
}

/// The digests that a recording needs, brought by who makes it, since they come from a C library.
package struct ReplayDigests: Sendable {
    package let makeSHA256: @Sendable () -> any RunningDigest
    package let sha1: @Sendable ([UInt8]) -> [UInt8]

    package init(
        makeSHA256: @escaping @Sendable () -> any RunningDigest,
        sha1: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.makeSHA256 = makeSHA256
        self.sha1 = sha1
    }
}
