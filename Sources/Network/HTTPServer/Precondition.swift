internal import Base
package import HTTPModel

/// What the server knows of a representation's current version.
package struct Validators: Sendable, Equatable {
    package let entityTag: EntityTag?
    /// Only ever a strong one: whoever makes representations leaves a date out as long as another
    /// change could still bear it (RFC 9110 §8.8.2.2).
    package let lastModified: HTTPDate?

    package init(entityTag: EntityTag?, lastModified: HTTPDate?) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }
}

/// The verdict on a request's preconditions.
package enum PreconditionVerdict: Sendable, Equatable {
    case proceed
    /// 304: the client has this version.
    case notModified
    /// 412
    case failed
}

/// The precondition fields of one request, judged in the order of RFC 9110 §13.2.2.
package enum PreconditionRule {
    /// Judges If-Match, else If-Unmodified-Since; then If-None-Match, else If-Modified-Since.
    ///
    /// - Parameter validators: `nil` if there is no current representation.
    package static func judge(
        _ fields: Fields, method: RequestMethod, validators: Validators?, now: HTTPDate
    ) -> PreconditionVerdict {
        guard changePermitted(fields, validators: validators, now: now) else { return .failed }
        let noneMatch = fields.all(named: "if-none-match")
        if !noneMatch.isEmpty {
            let condition = EntityTagCondition(noneMatch)
            guard matches(condition, validators, by: { $0.weaklyEquals($1) }) else {
                return .proceed
            }
            return method.isRetrieval ? .notModified : .failed
        }
        guard method.isRetrieval, let lastModified = validators?.lastModified,
            let since = date(fields.all(named: "if-modified-since"), now: now)
        else { return .proceed }
        return lastModified <= since ? .notModified : .proceed
    }

    /// Whether a Range field counts: there is no If-Range, or it names exactly this version.
    ///
    /// A weak tag never does, nor does anything that is neither a tag nor a date
    /// (RFC 9110 §13.1.5).
    package static func rangeApplies(
        _ fields: Fields, validators: Validators, now: HTTPDate
    ) -> Bool {
        let lines = fields.all(named: "if-range")
        guard let value = lines.first else { return true }
        guard lines.count == 1 else { return false }
        if let tag = EntityTag(value) {
            return validators.entityTag?.stronglyEquals(tag) ?? false
        }
        guard let date = HTTPDate(value, now: now) else { return false }
        return date == validators.lastModified
    }

    private static func changePermitted(
        _ fields: Fields, validators: Validators?, now: HTTPDate
    ) -> Bool {
        let match = fields.all(named: "if-match")
        if !match.isEmpty {
            return matches(EntityTagCondition(match), validators, by: { $0.stronglyEquals($1) })
        }
        guard let since = date(fields.all(named: "if-unmodified-since"), now: now),
            let lastModified = validators?.lastModified
        else { return true }
        return lastModified <= since
    }

    private static func matches(
        _ condition: EntityTagCondition, _ validators: Validators?,
        by equals: (EntityTag, EntityTag) -> Bool
    ) -> Bool {
        guard let validators else { return false }
        switch condition {
        case .any: return true
        case .tags(let tags):
            guard let current = validators.entityTag else { return false }
            return tags.contains { equals($0, current) }
        }
    }

    /// A date field that is no date, or that comes twice, is ignored (RFC 9110 §13.1.3).
    private static func date(_ lines: [ArraySlice<UInt8>], now: HTTPDate) -> HTTPDate? {
        lines.count == 1 ? HTTPDate(lines[0], now: now) : nil
    }
}
