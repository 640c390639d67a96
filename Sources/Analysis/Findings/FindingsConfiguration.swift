package import Base

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
    /// What the app declares, `nil` if nobody told.
    package var manifest: PrivacyManifest?
    /// How many users the program has, for how many share a fingerprint.
    var population: Int { policy.population ?? 100_000 }

    /// Adds what an app declares, from a property list.
    ///
    /// Errors: `manifest-invalid`.
    package mutating func declare(_ bytes: [UInt8], path: String) throws(Failure) {
        var all = manifest ?? PrivacyManifest()
        try all.add(bytes, path: path)
        manifest = all
    }

    /// Adds a list of trackers, in one of the forms that `TrackerHosts` reads.
    ///
    /// Errors: `list-invalid`, if it names none.
    package mutating func list(trackers bytes: [UInt8], path: String) throws(Failure) {
        guard trackers.add(list: bytes) > 0 else {
            throw Failure(
                "list-invalid", party: .tool, "cannot read \(path): it names no domain",
                hint:
                    "a list has a domain, a line of a hosts file or ||domain^ on each line, or JSON"
            )
        }
    }

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
