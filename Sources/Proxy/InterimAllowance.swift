internal import HTTPCodecs
internal import HTTPModel

/// The interim responses to one request: nobody has a use for many, and each is recorded.
struct InterimAllowance {
    private var count = 0
    /// In bytes.
    private var size = 0

    private static let countLimit = 64
    private static let sizeLimit = 256 << 10

    mutating func take(_ head: ResponseHead) throws(RelayFailure) {
        count += 1
        size += head.raw.count
        guard count <= Self.countLimit, size <= Self.sizeLimit else {
            throw .originViolation(.tooManyInterims)
        }
    }
}
