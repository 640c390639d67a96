/// What the engine needs to know before it sees traffic.
package struct FindingsConfiguration: Sendable {
    /// The values of the test subject, `nil` without a profile.
    package var profile: SubjectProfile?
    package var digests: DigestFunctions
    /// 32 random bytes, kept in memory only: tags mean nothing without them.
    package var runKey: [UInt8]
    /// The registrable domain of a host, `nil` if it has none (an address, a public suffix).
    package var registrableDomain: @Sendable (String) -> String?
    /// Whether findings about loopback peers keep their severity instead of being `info`, so that
    /// a laboratory on one machine can show them.
    package var treatsLoopbackAsRemote = false
    package var policy = FindingsPolicy()
    /// What was there before, `nil` if everything counts.
    package var baseline: Baseline?

    /// The domains of the subject's own services; without any, they are guessed.
    package var firstParties: [String] = []
    package var trackers = TrackerHosts()

    package init(
        profile: SubjectProfile? = nil, digests: DigestFunctions, runKey: [UInt8],
        registrableDomain: @escaping @Sendable (String) -> String?,
        treatsLoopbackAsRemote: Bool = false
    ) {
        self.profile = profile
        self.digests = digests
        self.runKey = runKey
        self.registrableDomain = registrableDomain
        self.treatsLoopbackAsRemote = treatsLoopbackAsRemote
    }
}
