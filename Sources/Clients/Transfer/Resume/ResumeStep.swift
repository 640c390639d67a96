package import Base

/// What a download makes of the head of an answer.
package enum ResumeStep: Sendable, Equatable {
    /// Take the content, which is of the version that is there and begins at `start`: what is there
    /// already is compared.
    ///
    /// - Parameter end: where the content has to end; `nil` where it does not say.
    case append(from: Int64, end: Int64?)
    /// Drop what is there, and take the content from its first byte.
    case takeWhole
    /// This answer proves nothing, or is not what was asked for: try the next way.
    case next(String)
    /// What is there is all of it.
    case complete
    /// What is there is of no use: begin anew.
    case restart(String)
    /// Ask again later: as late as the origin says, if it does.
    case wait(RetryAfter?, Failure)
    case refuse(Failure)
    /// A login is asked for, with these schemes.
    case authenticate([String])
    case redirect(String)
}

/// When an origin wants to be asked again (RFC 9110 §10.2.3).
package enum RetryAfter: Sendable, Equatable {
    case seconds(Int64)
    /// In seconds since 1970.
    case date(Int64)
}
