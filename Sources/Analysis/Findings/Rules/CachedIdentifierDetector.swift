internal import Base
internal import Contents

/// ID-IDFA-CACHED: an advertising identifier that is sent again after the same field had none.
struct CachedIdentifierDetector {
    /// What a field of a service has held.
    private struct History {
        var tags: Set<UInt64> = []
        /// Those that were there before there was none.
        var revoked: Set<UInt64> = []
    }

    private var fields: [UInt64: History] = [:]

    mutating func examine(_ view: ExchangeView, _ evidence: RunEvidence) -> [RuleMatch] {
        let values = view.personalValues.filter { $0.kind == .advertisingID }
        return values.compactMap { value in
            let field = value.field
            let place = evidence.redaction.hash(
                of: Array("\(view.service.text) ".utf8) + field.key.lowercasedBytes)
            guard fields[place] != nil || fields.count < Self.countLimit else { return nil }
            guard !value.isHarmless else {
                fields[place, default: History()].revoked.formUnion(fields[place]?.tags ?? [])
                return nil
            }
            let tag = evidence.redaction.hash(of: field.value.lowercasedBytes)
            // Another program's library may send it all the time: the field that had none counts.
            let isKept = fields[place]?.revoked.contains(tag) ?? false
            if fields[place]?.tags.count ?? 0 < Self.tagLimit {
                fields[place, default: History()].tags.insert(tag)
            }
            guard isKept else { return nil }
            var result = RuleMatch(.cachedIdentifier, .high, .firm, field: field)
            result.value = field.value
            return result
        }
    }

    private static let countLimit = 1024
    private static let tagLimit = 16
}

extension RuleText {
    static let cachedIdentifier = RuleText(
        title: "Advertising identifier kept after it was withdrawn",
        reason: "the user has said no since, and is followed by what was stored before",
        advice: "ask the system for the identifier each time, and store it nowhere",
        decision:
            "A field of a service held an advertising identifier, then the identifier of zeros that"
            + " systems give where the user said no, and then the first one again: in one launch, or"
            + " in several that are in one capture.",
        exceptions:
            "A user who says yes again in between gets the same identifier from some systems.",
        worst: .high,
        weaknesses: [359])
}
