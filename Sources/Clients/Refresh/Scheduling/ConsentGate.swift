/// Whether an app may use the local network, which its user decides once, and may decide anew.
package struct ConsentGate: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        /// Nobody has asked.
        case unknown
        /// The user was asked and has not answered: what wants to connect waits.
        case waiting
        case granted
        case denied
    }

    package enum Step: Sendable, Equatable {
        case proceed
        /// The user is to be asked now; the request waits for the answer.
        case ask
        case wait
        case refuse
    }

    package private(set) var state: State

    package init(_ state: State = .unknown) {
        self.state = state
    }

    /// Something is to be fetched from the local network. Nobody is asked for what they did not
    /// begin: in the background the request waits for the next time in front of the user.
    package mutating func request(inForeground: Bool) -> Step {
        switch state {
        case .granted: return .proceed
        case .denied: return .refuse
        case .waiting: return .wait
        case .unknown:
            guard inForeground else { return .wait }
            state = .waiting
            return .ask
        }
    }

    /// The user has answered, or changed their mind in the settings.
    package mutating func answer(isGranted: Bool) {
        state = isGranted ? .granted : .denied
    }
}
