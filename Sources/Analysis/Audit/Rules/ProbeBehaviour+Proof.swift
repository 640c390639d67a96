internal import Catalogue

extension ProbeBehaviour {
    /// Whether a client that speaks, or uses an answer, has taken what it should not.
    ///
    /// Not so where the server is sound at first, and the fault comes later.
    var isSpeakingProof: Bool {
        switch self {
        case .heartbeat, .renegotiateBadChain, .renegotiateOtherName, .redirectToHTTP,
            .redirectWithCredentials, .injectAfterStartTLS:
            false
        default: true
        }
    }
}
