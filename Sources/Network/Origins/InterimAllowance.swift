package import HTTPCodecs
package import HTTPModel

/// The interim responses to one request, as `InterimLimits` allow them.
package struct InterimAllowance {
    private var count = 0
    /// In bytes.
    private var size = 0

    package init() {}

    package mutating func take(_ head: ResponseHead) throws(HTTP1Violation) {
        count += 1
        size += head.raw.count
        guard count <= InterimLimits.count, size <= InterimLimits.size else {
            throw .tooManyInterims
        }
    }
}
