/// What a client made of a probe, over all of its connections.
package enum ProbeOutcome: String, Sendable, CaseIterable {
    case accepted
    case refused
    /// The client sent a request, and reported an error in the end.
    case sentThenRefused = "sent-then-refused"
    /// The client sent its data without TLS, which the server offers.
    case inClear = "in-clear"
    /// The client took the certificate in TLS, and its data could not be seen.
    case suspected
    /// The client offers nothing that the probe needs.
    case notOffered = "not-offered"
    case inconclusive
    /// What a passive probe looks for was in the client's first message.
    case shown
    case notShown = "not-shown"
    /// No such message was seen of the client's.
    case notSeen = "not-seen"
    /// It follows from a probe that the client failed.
    case implied
    /// The probe cannot be presented here, with the reason.
    case notPossible = "not-possible"
    /// The client refuses a sound server with our CA, so that its refusals say nothing.
    case uncontrolled

    /// Whether the client was seen to accept, and data of its can be had by whoever stands there.
    package var isAcceptance: Bool {
        switch self {
        case .accepted, .sentThenRefused, .inClear, .implied: true
        case .refused, .suspected, .notOffered, .shown, .notShown, .notSeen, .inconclusive,
            .notPossible, .uncontrolled:
            false
        }
    }
}

/// What an outcome means, given what was expected.
package enum ProbeVerdict: String, Sendable, CaseIterable {
    case pass
    case fail
    /// The client differs from what most specifications say; no mistake by itself.
    case warn
    /// Noted, without a judgement.
    case note
    /// Nothing is known.
    case inconclusive
    /// It was not tried, or does not concern the client.
    case skipped
}
