/// What became of a response.
package struct SentResponse: Sendable, Equatable {
    package enum End: String, Sendable {
        /// All of it went out, or all that was to go out.
        case whole
        /// It was broken off on purpose.
        case cut
        /// Its content could not be had.
        case failed
        /// The client has left, or takes nothing.
        case left
        /// The server stopped.
        case stopped
    }

    package let end: End
    /// Bytes of content that went out.
    package let count: UInt64
    /// Of these, how many the client's system has surely got; `nil` if nobody can tell.
    package let acknowledged: UInt64?
    /// Whether the client broke off the connection behind it, and may have left bytes unread.
    package var isDoubtful = false

    package init(end: End, count: UInt64, acknowledged: UInt64?) {
        self.end = end
        self.count = count
        self.acknowledged = acknowledged
    }
}
