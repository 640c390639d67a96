package import HTTPModel

/// Takes an answer while it comes, where it may be longer than is kept in memory.
///
/// It is called on the client's loop, in this order: `takeInterim` for each interim head, `take` once
/// for the head, then `take` for a piece and `waitForRoom` behind it, over and over. An exchange that is
/// sent again had brought nothing before.
package protocol ClientReception: AnyObject {
    func takeInterim(_ head: ResponseHead)
    /// - Returns: whether the content is wanted; the exchange ends here if not.
    func take(_ head: ResponseHead) -> Bool
    func take(_ piece: Span<UInt8>)
    /// Waits until the next piece may come: nothing is read from the origin until then.
    ///
    /// - Returns: whether more is wanted; the exchange ends here if not.
    func waitForRoom() async -> Bool
    /// Called last where a request failed with which the origin has surely done nothing.
    func noteUnprocessed()
}

extension ClientReception {
    package func noteUnprocessed() {}
}

/// Ends an exchange from another task of its loop, also while it waits for its origin.
///
/// `@unchecked Sendable`: used on its loop's thread only.
package final class ClientStop: @unchecked Sendable {
    package private(set) var isStopped = false
    /// Ends the wait of the exchange that is under way.
    var interrupt: (() -> Void)?
    /// Called when it is stopped, for what is waited for besides.
    package var whenStopped: (() -> Void)?

    package init() {}

    package func stop() {
        isStopped = true
        interrupt?()
        whenStopped?()
    }
}
