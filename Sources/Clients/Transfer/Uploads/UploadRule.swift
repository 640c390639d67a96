package import Base
internal import Contents
internal import Origins

/// Decides what an upload makes of an answer (draft-ietf-httpbis-resumable-upload §4, tus 1.0, RFC
/// 9110 §9.3.4, §15).
///
/// The origin's word of the offset counts as long as it can be true: one that is less than what it
/// told before, or more than was sent, is of an origin that has lost something or lies, and nothing
/// is put behind it.
package struct UploadRule: Sendable {
    private let action: UploadAction
    private let state: UploadState
    private let options: UploadOptions
    private let url: String

    /// - Parameter url: where the request went, for words.
    package init(
        _ action: UploadAction, _ state: UploadState, _ options: UploadOptions, url: String
    ) {
        self.action = action
        self.state = state
        self.options = options
        self.url = url
    }

    package func judge(_ facts: UploadFacts) -> UploadStep {
        let answer = facts.answer
        if facts.isComplete == true, answer.status >= 400 {
            // It has all of it and refuses that: there is nothing to go on with.
            return refusal(answer)
        }
        switch answer.status {
        case 401: return .authenticate(answer.schemes)
        case 407: return .refuse(AnswerFacts.proxyLogin(at: url))
        case 300..<400: return judgeRedirect(answer)
        case 200..<300: return judgeSuccess(facts)
        default: break
        }
        if let most = facts.limits?.greatest, most < state.size { return tooLarge(most) }
        switch answer.status {
        case 503 where answer.retryAfter == nil && state.isSent && !mayRepeat:
            // Gateways say so too when a server leaves that has got all of it.
            return .refuse(uncertain("\(url): answers with 503"))
        case 408, 423, 425, 429, 503: return .wait(answer.retryAfter, status(answer))
        // Servers of tus need not know OPTIONS.
        case 501, 505: return action == .discover ? .discovered : refusal(answer)
        case 500...599: return judgeBrokenServer(answer)
        default: return judgeRefusal(facts)
        }
    }

    /// What is made of no answer at all.
    ///
    /// - Parameters:
    ///   - isUnprocessed: whether the origin has surely done nothing with the request.
    ///   - hasCome: whether the origin has been met before.
    package func judge(
        noAnswer failure: Failure, isUnprocessed: Bool, hasCome: Bool = false
    ) -> UploadStep {
        let isSafe = isUnprocessed || Self.unsent.contains(failure.code)
        guard isSafe || mayRepeat else { return .refuse(uncertain(failure.detail)) }
        return RetryRule.mayRetry(failure, hasCome: hasCome)
            ? .wait(nil, failure) : .refuse(failure)
    }

    /// Whether nobody would have it twice if it were sent again.
    package var mayRepeat: Bool {
        action != .sendWhole || state.resource != nil || options.isIdempotent
    }

    /// Failures that come before a request goes out.
    private static let unsent: Set<String> = [
        "connect-failed", "connect-timed-out", "name-lookup-failed", "name-not-found",
        "origin-handshake-failed", "origin-handshake-timed-out", "origin-certificate",
        "upstream-failed", "pin-mismatch", "request-malformed", OriginFailureText.proxyLoginCode,
    ]

    // MARK: 2xx

    private func judgeSuccess(_ facts: UploadFacts) -> UploadStep {
        if let most = facts.limits?.greatest, most < state.size, facts.isComplete != true {
            return tooLarge(most)
        }
        switch action {
        case .cancel: return .complete
        case .discover: return .discovered
        case .create: return judgeCreated(facts)
        case .sendWhole: return judgeWhole(facts)
        case .ask: return judgeState(facts)
        case .append(let range, _): return judgeAppended(range, facts)
        }
    }

    private func judgeCreated(_ facts: UploadFacts) -> UploadStep {
        if let least = facts.limits?.least, least > state.size {
            return .refuse(
                failure("upload-too-small", "takes no uploads of less than \(least) bytes"))
        }
        guard let location = facts.answer.location, facts.isComplete != true else {
            return .refuse(
                Failure(
                    "upload-unsupported", party: .origin,
                    "\(url): answers with \(facts.answer.status) and no upload resource",
                    hint: "upload in another mode: automatic, put or form"))
        }
        guard facts.offset ?? 0 == 0 else { return violation("an offset before anything was sent") }
        return .begun(at: location)
    }

    private func judgeWhole(_ facts: UploadFacts) -> UploadStep {
        guard options.dialect.isResumable else { return .complete }
        let isShort = facts.offset.map { $0 != state.size } ?? false
        guard facts.isComplete == false || facts.isComplete == nil && isShort else {
            return isShort ? violation("complete with another size") : .complete
        }
        if state.resource != nil { return .ask }
        return facts.answer.location.map(UploadStep.begun)
            ?? violation("incomplete, and without an upload resource")
    }

    private func judgeState(_ facts: UploadFacts) -> UploadStep {
        guard let offset = facts.offset else {
            return .wait(
                facts.answer.retryAfter, failure("origin-violation", "tells no Upload-Offset"))
        }
        if let length = facts.length, length != state.size { return violation("another length") }
        if facts.isComplete == true {
            guard offset <= state.reach else { return violation("complete before it was sent") }
            return offset == state.size ? .complete : violation("complete with another size")
        }
        return judge(offset)
    }

    private func judgeAppended(_ range: Range<Int64>, _ facts: UploadFacts) -> UploadStep {
        let isLast = range.upperBound == state.size
        if facts.isComplete == true {
            return isLast && facts.offset ?? state.size == state.size ? .complete : .ask
        }
        // Only tus has to tell it.
        guard let offset = facts.offset else {
            if options.dialect == .tus || facts.isComplete == false { return .ask }
            return isLast ? .complete : .confirmed(range.upperBound)
        }
        if isLast, offset == state.size, facts.isComplete == nil { return .complete }
        return judge(offset)
    }

    private func judge(_ offset: Int64) -> UploadStep {
        guard offset <= state.size else { return violation("an offset beyond the end") }
        guard offset <= state.reach else { return violation("an offset beyond what was sent") }
        guard offset >= state.offset else {
            return .restart("data-lost: \(offset) bytes, and there were \(state.offset)")
        }
        // tus knows no other end than its last byte.
        return options.dialect == .tus && offset == state.size ? .complete : .confirmed(offset)
    }

    // MARK: Others

    private func judgeRedirect(_ answer: AnswerFacts) -> UploadStep {
        let keepsContent = answer.status == 307 || answer.status == 308
        let hasNone = action == .ask || action == .discover || action == .cancel
        guard keepsContent || hasNone && [301, 302].contains(answer.status) else {
            return .refuse(
                failure(
                    "redirect-drops-content",
                    "redirects with \(answer.status), which asks for no upload there"))
        }
        return answer.location.map(UploadStep.redirect)
            ?? .refuse(failure("redirect-invalid", "a redirect without a Location"))
    }

    private func judgeBrokenServer(_ answer: AnswerFacts) -> UploadStep {
        mayRepeat
            ? .wait(answer.retryAfter, status(answer))
            : .refuse(uncertain("\(url): answers with \(answer.status)"))
    }

    private func judgeRefusal(_ facts: UploadFacts) -> UploadStep {
        let answer = facts.answer
        switch (action, answer.status) {
        case (.discover, _): return .discovered
        case (.ask, 403), (.ask, 404), (.ask, 410), (.append, 403), (.append, 404), (.append, 410):
            return .restart("upload-gone: \(answer.status)")
        case (.append(_, true), 400): return .askWithoutDigests
        case (.append, 400), (.append, 409): return .ask
        case (.sendWhole, 409) where state.resource != nil: return .ask
        case (.append(let range, _), 413):
            let most = facts.limits?.greatestAppend ?? .max
            return most < range.upperBound - range.lowerBound ? .ask : refusal(answer)
        case (.append, 460):
            return .wait(nil, failure("checksum-mismatch", "has other bytes than were sent"))
        // What it has is not what Repr-Digest says.
        case (.ask, 422),
            (.append, 422) where mayRepeat, (.sendWhole, 422) where mayRepeat:
            return .restart(Self.mismatch)
        default: return refusal(answer)
        }
    }

    /// The reason of a restart, and the code of a failure.
    package static let mismatch = "digest-mismatch"

    // MARK: Words

    private func violation(_ what: String) -> UploadStep {
        mayRepeat ? .restart("origin-violation: \(what)") : .refuse(uncertain("\(url): \(what)"))
    }

    private func tooLarge(_ most: Int64) -> UploadStep {
        .refuse(
            failure("upload-too-large", "takes \(most) bytes at most, and these are \(state.size)"))
    }

    private func refusal(_ answer: AnswerFacts) -> UploadStep { .refuse(status(answer)) }

    private func status(_ answer: AnswerFacts) -> Failure {
        failure("status-\(answer.status)", "answers with \(answer.status)")
    }

    private func failure(_ code: String, _ detail: String) -> Failure {
        Failure(code, party: .origin, "\(url): \(detail)")
    }

    private func uncertain(_ reason: String) -> Failure { Self.uncertain(url, reason) }

    /// Nobody knows whether the origin has it.
    package static func uncertain(_ url: String, _ reason: String) -> Failure {
        Failure(
            "upload-uncertain", party: .origin,
            "\(url): nobody knows whether the upload was taken: \(reason)",
            hint: "look there, and upload it again if it is not")
    }
}
