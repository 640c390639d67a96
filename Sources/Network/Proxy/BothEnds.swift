internal import HTTP2
internal import HTTPModel

/// What two children of one task leave behind.
///
/// `@unchecked Sendable`: both run on one loop's executor.
final class BothEnds: @unchecked Sendable {
    /// A final head that changes over to another protocol.
    var switched: ResponseHead?
    /// Whether the response has passed whole while the request was under way.
    var isAnswered = false
    /// Whether the client was made to stop, as nobody reads the rest.
    var isStopped = false
    /// What the client did to a request whose response has passed whole; `nil` if it went on, or was
    /// made to stop.
    private(set) var requestFailure: RelayFailure?
    private var sendFailure: RelayFailure?
    private var receiveFailure: RelayFailure?
    private var hasReceivingFailedFirst = false

    func noteSend(_ failure: RelayFailure) {
        sendFailure = failure
        // A stream may stay open for as long as its client likes, once it has its response.
        switch failure {
        case .clientStream(.silent), .clientStream(.timedOut): return
        default: break
        }
        if failure.isClients, !isStopped { requestFailure = failure }
    }

    func noteReceive(_ failure: RelayFailure) {
        receiveFailure = failure
        hasReceivingFailedFirst = sendFailure == nil
    }

    /// Why there is no whole response; `nil` if there is one. What made one child stop the other is
    /// the cause, and an origin that stops listening may still have said why.
    var cause: RelayFailure? {
        guard let receiveFailure else { return nil }
        if let sendFailure, !sendFailure.isOriginGone, !hasReceivingFailedFirst {
            return sendFailure
        }
        return receiveFailure
    }
}
