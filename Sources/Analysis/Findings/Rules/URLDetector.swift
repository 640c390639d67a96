internal import Base
internal import Contents

/// URL-PASSWORD and URL-TOKEN: secrets in the request's URL or in Referer, over TLS too.
enum URLDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        var found = userinfo(Array(view.target.userinfo), .userinfo, view)
        let signing = Signing(view.target.parameters)
        for field in view.urlFields where field.container != .referer {
            if let result = password(field, view) ?? token(field, view, signing) {
                found.append(result)
            }
        }
        return found
    }

    private static func userinfo(
        _ raw: [UInt8], _ container: Container, _ view: ExchangeView
    ) -> [RuleMatch] {
        guard !raw.isEmpty else { return [] }
        let plain = PercentCoding.decoded(raw[...])
        let field = MessageField(container: container, name: [], value: plain)
        guard let colon = plain.firstIndex(of: 0x3A), colon + 1 < plain.count else {
            guard ValueKind(plain).isCredentialByForm else { return [] }
            var result = RuleMatch(.urlToken, view.isClear ? .high : .medium, .firm, field: field)
            result.value = plain
            return [result]
        }
        let severity: Severity = view.isClear ? .critical : .high
        var result = RuleMatch(.urlPassword, severity, .certain, field: field)
        result.value = Array(plain[(colon + 1)...])
        result.user = Array(plain[..<colon])
        result.isPassword = true
        return [result]
    }

    private static func password(_ field: MessageField, _ view: ExchangeView) -> RuleMatch? {
        guard let (severity, confidence) = PasswordFieldDetector.judge(field) else { return nil }
        var result = RuleMatch(
            .urlPassword, view.isClear ? severity : severity.lowered, confidence, field: field)
        result.value = field.value
        result.isPassword = true
        if field.value.contains(where: { [0x3B, 0x7C, 0x24, 0x28, 0x60].contains($0) }),
            field.value.contains(where: { [0x20, 0x28, 0x2F].contains($0) })
        {
            result.severity = .low
            result.notes.append(.looksLikeInjection)
        }
        return result
    }

    private static func token(
        _ field: MessageField, _ view: ExchangeView, _ signing: Signing
    ) -> RuleMatch? {
        guard field.isScalar, field.steps.isEmpty, !Placeholder.matches(field.value) else {
            return nil
        }
        let key = field.key.lettersAndDigits
        let prefix = PublishedPrefix(of: field.value)
        guard !isNoToken(key) else { return nil }
        let isSignature = signing.isSignature(key)
        guard isToken(field, at: view.service) || isSignature || prefix != nil else { return nil }
        // What a tracker calls a session is its own.
        let isOpaque = prefix == nil && !ValueKind(field.value).isCredentialByForm
        guard view.tracker == nil || !isOpaque || isSignature else { return nil }
        var result = RuleMatch(.urlToken, .medium, .firm, field: field)
        result.value = field.value
        if isSignature {
            result.severity = .info
            result.notes.append(.presigned(lifetimeSeconds: signing.lifetimeSeconds))
        } else if prefix?.isPublishable == true {
            result.severity = .info
            result.notes.append(.publishable)
        } else if view.isClear {
            guard key != "accesstoken" else { return bearer(field) }
            result.severity = .high
        }
        return result
    }

    /// A bearer token in the query (RFC 6750 §2.3), in cleartext.
    private static func bearer(_ field: MessageField) -> RuleMatch {
        var result = RuleMatch(.plainHTTPBearer, .high, .certain, field: field)
        result.value = field.value
        return result
    }

    /// Whether a parameter of a URL holds a token by its name and value.
    ///
    /// - Parameter service: whose URL it is.
    static func isToken(_ field: MessageField, at service: ServiceName) -> Bool {
        let key = field.key.lettersAndDigits
        guard field.value.count >= 8, !isNoToken(key),
            !PublicKey.matches(field.value, named: field.key, at: service)
        else { return false }
        if ValueKind(field.value).isCredentialByForm { return true }
        if field.container == .pathParameter, key == "jsessionid" {
            return field.value.count >= 8
                && field.value.allSatisfy { $0.isASCIIDigit || $0.isASCIILetter || $0 == 0x2E }
        }
        return SecretName.token(key) != nil && field.value.count >= 16
            && Randomness.bits(of: field.value) >= 64
    }

    private static func isNoToken(_ key: String) -> Bool {
        cursors.contains(key) || protocolValues.contains(key)
    }

    private static let cursors: Set<String> = [
        "nexttoken", "nextpagetoken", "pagetoken", "continuation", "continuationtoken", "cursor",
        "synctoken", "csrftoken", "xsrftoken", "csrf", "xsrf",
    ]
    /// One-time values of OAuth 2 and OpenID Connect, which belong into the URL.
    private static let protocolValues: Set<String> = [
        "code", "state", "nonce", "codechallenge", "request", "idtokenhint", "loginhint",
    ]
}

/// Whether the URL is signed for whoever holds it, as object stores do.
private struct Signing {
    private let names: Set<String>
    let lifetimeSeconds: Int?

    init(_ query: [Parameter]) {
        names = Set(query.map { $0.name.lowercasedBytes.text })
        let expires = query.first {
            ["x-amz-expires", "x-goog-expires"].contains($0.name.lowercasedBytes.text)
        }
        lifetimeSeconds = expires.flatMap { Int($0.value.prefix(9).text) }
    }

    /// - Parameter key: without punctuation.
    func isSignature(_ key: String) -> Bool {
        switch key {
        case "xamzsignature", "xamzsecuritytoken": names.contains("x-amz-signature")
        case "xgoogsignature": true
        case "sig": names.contains("se")
        case "signature": names.contains("expires")
        default: false
        }
    }
}

extension RuleText {
    static let urlPassword = RuleText(
        title: "Password or secret in a URL",
        reason: "URLs end up in access logs, histories, crash reports and Referer fields",
        advice: "move the value into the body or a header, and change it",
        decision:
            "A password stands in userinfo, in the query or in path parameters of a URL,"
            + " over TLS too (RFC 3986 §3.2.1).",
        exceptions: "Names that only sound alike, empty values, and tries at injection.",
        worst: .critical,
        weaknesses: [598, 522])

    static let urlToken = RuleText(
        title: "Session or access token in a URL",
        reason: "URLs end up in access logs, histories and Referer fields, and the token with them",
        advice: "send the token in the Authorization header or a Secure cookie",
        decision:
            "A query or path parameter that is named like a token has a value that can be one;"
            + " of at least 16 characters and 64 bits, or of a published form.",
        exceptions:
            "Presigned URLs are info, and tell how long they live; cursors of pages and codes of"
            + " OAuth are no tokens.",
        worst: .high,
        weaknesses: [598])
}
