/// What the end of a content means (RFC 9112 §6.3, §8).
package enum ContentEnd: Sendable, Equatable {
    /// All of the resource is there.
    case complete
    /// Some is missing: go on.
    case incomplete
    /// Only the end of the connection said so: something else has to.
    case unverified

    /// - Parameters:
    ///   - offset: up to where the resource is there, in bytes.
    ///   - total: `nil` where nobody has told.
    ///   - endedByClose: whether nothing but the end of the connection ended the content.
    ///   - isPart: whether the content was of a part (206).
    package init(offset: Int64, total: Int64?, endedByClose: Bool, isPart: Bool) {
        if let total {
            self = offset == total ? .complete : .incomplete
        } else if isPart {
            // A part with an unknown total may be shorter than what was asked for.
            self = .unverified
        } else {
            self = endedByClose ? .unverified : .complete
        }
    }
}
