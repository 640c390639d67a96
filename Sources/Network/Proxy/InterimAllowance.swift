internal import HTTPCodecs
internal import HTTPModel

/// The interim responses to one request, as `InterimLimits` allow them.
struct InterimAllowance {
    private var count = 0
    /// In bytes.
    private var size = 0

    mutating func take(_ head: ResponseHead) throws(RelayFailure) {
        count += 1
        size += head.raw.count
        guard count <= InterimLimits.count, size <= InterimLimits.size else {
            throw .originViolation(.tooManyInterims)
        }
    }
}
