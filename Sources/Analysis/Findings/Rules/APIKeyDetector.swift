internal import Base
internal import Contents
internal import Redaction

/// PLAIN-HTTP-APIKEY: a request header whose name says that it holds a key.
enum APIKeyDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        guard view.isClear else { return [] }
        return view.request.lowercasedFields.compactMap { field in
            guard isKeyName(field.name), field.value.count >= 8, !Placeholder.matches(field.value)
            else { return nil }
            let isPublic = PublishedPrefix(of: field.value)?.isPublishable ?? false
            var result = RuleMatch(
                .plainHTTPAPIKey, isPublic ? .info : .high, .firm, header: field.name,
                value: field.value)
            if isPublic { result.notes.append(.publishable) }
            result.notes += view.verdict
            return result
        }
    }

    private static func isKeyName(_ name: [UInt8]) -> Bool {
        let words = Set(NameWords(name[...]).texts)
        guard unrelated.isDisjoint(with: words), !ownRules.contains(name.text) else { return false }
        if exact.contains(name.text) { return true }
        return combinations.contains { $0.isSubset(of: words) }
    }

    private static let combinations: [Set<String>] = [
        ["api", "key"], ["apikey"], ["auth", "token"], ["authtoken"], ["access", "token"],
        ["accesstoken"], ["secret"],
    ]
    private static let exact: Set<String> = [
        "private-token", "job-token", "ocp-apim-subscription-key", "x-amz-security-token",
        "x-vault-token",
    ]
    private static let unrelated: Set<String> = [
        "csrf", "xsrf", "csrftoken", "xsrftoken", "idempotency", "idempotent",
    ]
    private static let ownRules: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "sec-websocket-protocol",
    ]
}
