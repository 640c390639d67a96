internal import Base
internal import Contents

/// LEAK-REFERER: a secret or an address that another service's page left in the Referer field.
enum RefererDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        guard let referer = view.referer, let from = view.refererService, from != view.service
        else { return [] }
        var found: [RuleMatch] = []
        if !referer.userinfo.isEmpty {
            let plain = PercentCoding.decoded(referer.userinfo)
            if let colon = plain.firstIndex(of: 0x3A), colon + 1 < plain.count {
                let field = MessageField(
                    container: .referer, name: [], value: Array(plain[(colon + 1)...]))
                found.append(match(.high, .certain, field, isPassword: true))
            }
        }
        for field in view.urlFields where field.container == .referer {
            if let (_, confidence) = PasswordFieldDetector.judge(field), confidence > .tentative {
                found.append(match(.high, confidence, field, isPassword: true))
            } else if URLDetector.isToken(field, at: from) {
                found.append(match(.high, .firm, field))
            } else if EmailAddress(field.value) != nil {
                found.append(match(.medium, .firm, field))
            }
        }
        for index in found.indices { found[index].notes.append(.leavesInReferer(from)) }
        return found
    }

    private static func match(
        _ severity: Severity, _ confidence: Confidence, _ field: MessageField,
        isPassword: Bool = false
    ) -> RuleMatch {
        var result = RuleMatch(.leakReferer, severity, confidence, field: field)
        result.value = field.value
        result.isPassword = isPassword
        return result
    }
}

extension RuleText {
    static let leakReferer = RuleText(
        title: "Secret or e-mail address in Referer",
        reason: "another service gets the address of the page, and with it what stands in there",
        advice:
            "keep secrets out of URLs, and send Referrer-Policy: strict-origin-when-cross-origin",
        decision:
            "The Referer field names a page of another service, by its registrable domain, whose"
            + " query has a password, a token or an e-mail address (RFC 9110 §10.1.3).",
        exceptions:
            "Pages of the same service, and paths. A reset link that is good for one use looks like"
            + " one that is not.",
        worst: .high,
        weaknesses: [598, 200])
}
