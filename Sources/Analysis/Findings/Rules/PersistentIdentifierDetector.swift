internal import Base
internal import Contents

/// ID-PERSIST: the same opaque value at several services, by which they know whom they share.
struct PersistentIdentifierDetector {
    private var named = SeenValues()
    private var others = SeenValues()

    mutating func examine(_ view: ExchangeView, _ evidence: RunEvidence) {
        let secrets = Set(view.credentials.map(\.value))
        for field in view.requestFields where mayIdentify(field, secrets, view) {
            let words = Set(NameWords(field.key[...]).texts)
            guard words.isDisjoint(with: Self.passingWords) else { continue }
            if Self.identifierNames.contains(words.sorted().joined(separator: " "))
                || Self.identifierNames.contains(field.key.lettersAndDigits)
            {
                named.add(field, isPassword: false, evidence)
            } else {
                others.add(field, isPassword: false, evidence)
            }
        }
    }

    /// How many identifiers, by their names, are no longer compared.
    var forgottenCount: Int { named.forgottenCount }

    func finish(_ parties: Parties) -> [LateMatch] {
        Self.matches(named, .firm, parties) + Self.matches(others, .tentative, parties)
    }

    private static func matches(
        _ values: SeenValues, _ confidence: Confidence, _ parties: Parties
    ) -> [LateMatch] {
        values.shared.flatMap { value, sights -> [LateMatch] in
            // What everybody gets is no user's.
            guard sights.count < SeenValues.serviceLimit else { return [] }
            return sights.compactMap { sight in
                let others = sights.filter { !parties.areOneParty($0.service, sight.service) }
                guard !others.isEmpty else { return nil }
                var match = LateMatch(.persistentID, .low, confidence, at: sight.sighting)
                match.thirdPartySeverity = sight.isTracker ? .high : .medium
                match.isForThirdParties = true
                match.selector = sight.selector
                match.value = value
                match.notes = others.map { .alsoAt($0.service) }
                return match
            }
        }
    }

    private func mayIdentify(
        _ field: MessageField, _ secrets: Set<[UInt8]>, _ view: ExchangeView
    ) -> Bool {
        (12...128).contains(field.value.count) && field.isScalar && !field.isInFile
            && Randomness.bits(of: field.value) >= 64 && !secrets.contains(field.value)
            && PublishedPrefix(of: field.value) == nil
            && !PublicKey.matches(field.value, named: field.key, at: view.service)
            && field.value.allSatisfy(Self.isPlain)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || [0x2D, 0x2E, 0x5F, 0x3D, 0x2B].contains(byte)
    }

    /// Of values that change with each request, or that are the same for everybody.
    private static let passingWords: Set<String> = [
        "request", "req", "nonce", "csrf", "xsrf", "state", "trace", "span", "correlation",
        "transaction", "signature", "sig", "hash", "checksum", "etag", "integrity", "sha", "digest",
        "timestamp", "rand", "random", "cachebuster", "code", "challenge", "verifier", "version",
        "build", "revision", "commit", "chunk", "file", "asset", "image", "url", "uri", "path",
        "app",
        "application", "site", "project", "tag", "container", "property", "publisher", "placement",
        "campaign", "creative", "sdk", "key", "locale", "model", "experiment", "variant",
    ]
    /// The words of a name in order, or the whole of it.
    private static let identifierNames: Set<String> = [
        "device id", "deviceid", "id user", "userid", "id visitor", "visitorid", "anonymous id",
        "anonymousid", "id install", "installid", "id installation", "installationid",
        "distinct id", "distinctid", "id subscriber", "id person", "id member", "device uuid",
        "uuid user", "client uid", "device fingerprint", "fingerprint", "id profile",
        "devicefingerprint", "fingerprint visitor", "visitorfingerprint",
    ]
}

extension RuleText {
    static let persistentID = RuleText(
        title: "Same identifier at several services",
        reason: "the services can put together what each of them knows of the user",
        advice: "give each service an identifier of its own, which nobody else can link",
        decision:
            "A value of at least 64 bits went to two services, by their registrable domains, of"
            + " which one is no first party; values are compared by hashes under a key of the run.",
        exceptions:
            "Credentials (LEAK-3P-SECRET), keys that are public, values that are named for one"
            + " request, a file or the app, and what more than five services got. By another name"
            + " than an identifier's it is tentative.",
        worst: .high,
        weaknesses: [359])
}
