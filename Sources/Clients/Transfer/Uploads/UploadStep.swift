package import Base

/// What an upload makes of an answer.
package enum UploadStep: Sendable, Equatable {
    /// All of it is there, and was taken.
    case complete
    /// There is an upload resource at this reference, which has nothing yet.
    case begun(at: String)
    /// The upload resource has so many bytes.
    case confirmed(Int64)
    /// What the origin can do is known.
    case discovered
    /// Ask how far the upload resource is.
    case ask
    /// The same, and send no digests from now on.
    case askWithoutDigests
    /// The upload resource is of no use, or there is none: begin anew.
    case restart(String)
    /// Ask again later: as late as the origin says, if it does.
    case wait(RetryAfter?, Failure)
    case refuse(Failure)
    /// A login is asked for, with these schemes.
    case authenticate([String])
    case redirect(String)
}
