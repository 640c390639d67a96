internal import Base

/// Decides what a download makes of an answer (RFC 9110 §13.1.5, §14, §15.3.7, §15.5.17).
///
/// Parts are put together only if something proves that they are of one version: a strong tag that
/// both have, a date where there is no tag, a digest of the whole. What hostile or careless servers
/// and caches send besides leads down the ladder of `ResumePlan`, whose last rung is the whole.
package struct ResumeRule: Sendable {
    private let plan: ResumePlan
    /// `nil` while nothing is there.
    private let saved: SavedVersion?
    /// How much is there, in bytes.
    private let offset: Int64
    /// Whether a digest of the whole is known from elsewhere.
    private let isExpected: Bool
    /// Whether asking has failed several times in a row.
    private let isStuck: Bool
    /// Of servers that fail at parts.
    static let brokenStatuses: Set<Int> = [500, 502]

    package init(
        _ plan: ResumePlan, _ saved: SavedVersion?, offset: Int64, isExpected: Bool,
        isStuck: Bool = false
    ) {
        self.plan = plan
        self.saved = saved
        self.offset = offset
        self.isExpected = isExpected
        self.isStuck = isStuck
    }

    package func judge(_ answer: AnswerFacts) -> ResumeStep {
        switch answer.status {
        case 200, 203: judgeWhole(answer)
        case 206: judgePart(answer)
        case 416: judgeUnsatisfied(answer)
        case 301, 302, 303, 307, 308:
            answer.location.map(ResumeStep.redirect)
                ?? .refuse(failure(answer, "redirect-invalid", "a redirect without a Location"))
        case 304:
            next("304 without having been asked")
        case 412 where plan.mode == .ifMatch: .restart("version-changed")
        case 401: .authenticate(answer.schemes)
        case 407: .refuse(AnswerFacts.proxyLogin(at: answer.version.url))
        // A server that cannot make parts fails for each of them, and need not for the whole.
        case let status
        where isStuck && Self.brokenStatuses.contains(status) && plan.mode != .whole:
            next("\(status) for each part")
        case 408, 425, 429, 500, 502...504, 506...599: .wait(answer.retryAfter, status(answer))
        // What a part is refused with need not be said of the whole.
        default: plan.mode == .whole ? refusal(answer) : next("\(answer.status) for a part")
        }
    }

    // MARK: 200

    private func judgeWhole(_ answer: AnswerFacts) -> ResumeStep {
        guard let saved, offset > 0 else { return .takeWhole }
        switch saved.compare(answer.version) {
        case .same where saved.contradicts(answer.version),
            .differs where saved.differsInDigestsAlone(answer.version):
            // A part that is labelled as the whole, or a tag that stays while the content does not. What
            // is asked for without a condition decides.
            guard plan.mode == .whole else {
                return .next("another length or digest of the same version")
            }
            guard saved.isCut(answer.version, answer.version.length ?? 0, has: offset) else {
                return judgeOther(answer, than: saved, else: .takeWhole)
            }
            return .wait(answer.retryAfter, AnswerFacts.cutCopy(at: answer.version.url))
        case .same:
            // Only that ranges are ignored: a cache that knows If-Match may still send the rest.
            if plan.mode == .ifRange, saved.strongTag != nil, offset >= Self.worthAsking {
                return .next("a 200 of the same version")
            }
            return .append(from: 0, end: answer.length)
        case .differs:
            return judgeOther(answer, than: saved, else: .takeWhole)
        case .unproven:
            // As far as it has the same bytes it is what is there, whatever it is.
            return judgeOther(answer, than: saved, else: .append(from: 0, end: answer.length))
        }
    }

    private func judgeOther(
        _ answer: AnswerFacts, than saved: SavedVersion, else step: ResumeStep
    ) -> ResumeStep {
        // A page in the place of the content: who wants a login, or has no connection further.
        let type = answer.version.contentType
        guard saved.contentType != type, Self.pageTypes.contains(type) else { return step }
        guard plan.mode == .whole else { return .next("a page in the place of the content") }
        return .wait(
            answer.retryAfter,
            failure(
                answer, "content-type-changed",
                "answers with a page (\(type)), where it was \(saved.shownType)"))
    }

    private static let pageTypes = ["text/html", "application/xhtml+xml"]

    // MARK: 206

    private func judgePart(_ answer: AnswerFacts) -> ResumeStep {
        guard plan.asksForPart, let saved else { return judgeUnaskedPart(answer) }
        guard !answer.isMultipart else { return next("several parts") }
        guard case .part(let range, let total) = answer.contentRange else {
            if case .invalid(let flaw) = answer.contentRange { return next(flaw) }
            return next("206 without Content-Range")
        }
        if let length = answer.length, length != range.upperBound - range.lowerBound {
            return next("a Content-Length that is not that of Content-Range")
        }
        var version = answer.version
        version.length = total
        switch saved.compare(version) {
        case .same where saved.contradicts(version):
            return next("another total of the same version")
        case .differs(let what): return .restart("version-changed: \(what)")
        case .unproven where !(isExpected || saved.hasSecureDigest):
            return next("a part that nothing proves to be of the same version")
        case .same, .unproven: break
        }
        // What was asked for twice is to be compared.
        guard range.lowerBound <= plan.offset else { return next("a part that begins too late") }
        // All may be there already, and only its end was not told.
        guard range.upperBound > offset || range.upperBound == total else {
            return next("a part that brings nothing new")
        }
        guard range.upperBound <= saved.length ?? .max else { return next("a part beyond the end") }
        return .append(from: range.lowerBound, end: range.upperBound)
    }

    /// All of it, labelled as a part, is the whole.
    private func judgeUnaskedPart(_ answer: AnswerFacts) -> ResumeStep {
        if offset == 0, !answer.isMultipart,
            case .part(let range, let total?) = answer.contentRange,
            range == 0..<total, answer.length ?? total == total
        {
            return .takeWhole
        }
        return .refuse(failure(answer, "origin-violation", "206 without having been asked"))
    }

    // MARK: 416

    private func judgeUnsatisfied(_ answer: AnswerFacts) -> ResumeStep {
        guard plan.asksForPart, let saved else { return refusal(answer) }
        guard case .unsatisfied(let total) = answer.contentRange, total == offset,
            saved.length == nil || saved.length == total
        else { return .restart("416") }
        // Of what it has it could have sent some.
        guard plan.offset >= offset else { return next("416 for a range that is there") }
        let isSame = saved.strongTag != nil && saved.entityTag == answer.version.entityTag
        return isSame || isExpected || saved.hasSecureDigest
            ? .complete : next("416 that nothing proves to be of the same version")
    }

    // MARK: Words

    private func next(_ reason: String) -> ResumeStep {
        // Below the last rung is nothing.
        plan.mode == .whole
            ? .wait(nil, Failure("origin-violation", party: .origin, reason)) : .next(reason)
    }

    private func refusal(_ answer: AnswerFacts) -> ResumeStep { .refuse(status(answer)) }

    private func status(_ answer: AnswerFacts) -> Failure {
        failure(answer, "status-\(answer.status)", "answers with \(answer.status)")
    }

    private func failure(_ answer: AnswerFacts, _ code: String, _ detail: String) -> Failure {
        Failure(code, party: .origin, "\(answer.version.url): \(detail)")
    }

    /// In bytes: less is sooner compared than asked for again.
    private static let worthAsking: Int64 = 65_536
}
