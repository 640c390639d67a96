internal import Base

extension ReplayRecording {
    /// What an origin says that speaks no HTTP, from the next dialogue that was recorded with it;
    /// `nil` if there is none.
    package func play(_ host: String, _ port: UInt16) -> (any ReplayDialogue)? {
        dialogue(with: host, port).map {
            SegmentDialogue($0, with: "\(HostPort(host: host, port: port))", options)
        }
    }

    /// Whether anything is recorded with a request's method, origin and path.
    package func hasPlace(for facts: RequestFacts) -> Bool { knows(facts) }
}
