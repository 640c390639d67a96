internal import Base
internal import Logins
internal import Traffic

/// The rules about Authorization, Proxy-Authorization and tokens in Sec-WebSocket-Protocol.
enum AuthorizationDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        var found: [RuleMatch] = []
        if view.isClear {
            found += view.request.texts("authorization").compactMap(judge)
            found += view.request.texts("sec-websocket-protocol").compactMap(judgeSubprotocols)
        }
        // What asks for a tunnel goes to the proxy as it is.
        if view.isClear || view.isTunnel {
            let isOurs = view.connection.map { $0.mode == .explicit && !$0.isImported } ?? false
            found += view.request.texts("proxy-authorization").compactMap {
                judgeProxy($0, isOurs: isOurs)
            }
        }
        for index in found.indices { found[index].notes += view.verdict }
        return found
    }

    static func judge(_ value: [UInt8]) -> RuleMatch? {
        judge(value, header: Array("authorization".utf8))
    }

    /// - Parameter isOurs: whether it is for the proxy that recorded it.
    private static func judgeProxy(_ value: [UInt8], isOurs: Bool) -> RuleMatch? {
        guard let inner = judge(value, header: Array("proxy-authorization".utf8)) else {
            return nil
        }
        var result = inner
        switch inner.rule {
        case .hashHTTPDigest, .hashHTTPNTLM, .hashHTTPSignature: break
        default:
            result = RuleMatch(
                .plainHTTPProxy, inner.severity, inner.confidence, header: inner.name,
                value: inner.value ?? [])
            result.isPassword = inner.isPassword
            result.user = inner.user
            result.notes = inner.notes
        }
        result.peer = .proxy
        if isOurs {
            result.severity = .info
            result.notes.append(.forThisProxy)
        }
        return result
    }

    private static func judge(_ value: [UInt8], header: [UInt8]) -> RuleMatch? {
        let parts = AuthorizationValue(value)
        let (word, rest) = (parts.scheme, parts.credentials)
        switch word {
        case "": return nil
        case "basic": return basic(parts, header: header)
        case "bearer", "token", "oauth", "googlelogin":
            return bearer(rest, scheme: word, header: header)
        case "digest": return digest(parts, header: header)
        case "ntlm", "negotiate": return ntlm(rest, header: header)
        case "aws4-hmac-sha256", "hawk", "signature":
            guard !Placeholder.matches(parts.signature ?? rest) else { return nil }
            var result = RuleMatch(
                .hashHTTPSignature, .medium, .certain, header: header, value: rest)
            result.notes = [.scheme(scheme(word))]
            return result
        default:
            return unknown(rest.isEmpty ? value : rest, word: rest.isEmpty ? "" : word, header)
        }
    }

    private static func basic(_ value: AuthorizationValue, header: [UInt8]) -> RuleMatch? {
        guard let (user, password) = value.basic, isText(user + password) else {
            return unknown(value.credentials, word: "basic", header)
        }
        guard !Placeholder.matches(password.isEmpty ? user : password) else { return nil }
        // A key in the place of the user, with no password, is a common way to send it.
        let userIsKey = ValueKind(user).isCredentialByForm || Randomness.bits(of: user) >= 64
        let severity: Severity = password.isEmpty ? (userIsKey ? .high : .low) : .critical
        var result = RuleMatch(
            .plainHTTPBasic, severity, .certain, header: header,
            value: password.isEmpty ? user : password)
        result.isPassword = !password.isEmpty
        result.user = user
        if password.isEmpty {
            result.notes.append(.emptyPassword)
            result.lowerIfPublishable(user)
        }
        return result
    }

    private static func bearer(
        _ rest: [UInt8], scheme word: String, header: [UInt8]
    ) -> RuleMatch? {
        guard !Placeholder.matches(rest) else { return nil }
        guard rest.count >= 8 else { return unknown(rest, word: word, header) }
        var result = RuleMatch(.plainHTTPBearer, .high, .certain, header: header, value: rest)
        result.notes = [.scheme(scheme(word))]
        result.lowerIfPublishable(rest)
        return result
    }

    private static func isText(_ bytes: [UInt8]) -> Bool {
        bytes.isPrintableText || bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    private static func digest(_ value: AuthorizationValue, header: [UInt8]) -> RuleMatch? {
        guard let (user, response) = value.digest, !Placeholder.matches(response) else {
            return nil
        }
        var result = RuleMatch(
            .hashHTTPDigest, .medium, .certain, header: header, value: response)
        result.user = user
        result.notes = [.scheme(.digest)]
        return result
    }

    private static func ntlm(_ rest: [UInt8], header: [UInt8]) -> RuleMatch? {
        guard let token = Base64.decode(rest), let answer = NTLMAnswer(in: token) else {
            return nil
        }
        var result = RuleMatch(
            .hashHTTPNTLM, answer.isVersion1 ? .high : .medium, .certain, header: header,
            value: rest)
        result.user = answer.user
        result.notes = [answer.isVersion1 ? .ntlmVersion1 : .ntlmVersion2]
        return result
    }

    private static func unknown(
        _ value: [UInt8], word: String, _ header: [UInt8]
    ) -> RuleMatch? {
        guard !Placeholder.matches(value) else { return nil }
        let severity: Severity = ValueKind(value).isCredentialByForm ? .high : .medium
        var result = RuleMatch(
            .plainHTTPAuthorization, severity, .firm, header: header, value: value)
        if !word.isEmpty { result.notes = [.scheme(scheme(word))] }
        result.lowerIfPublishable(value)
        return result
    }

    /// Browsers cannot set Authorization on a WebSocket, so that tokens travel as subprotocols.
    private static func judgeSubprotocols(_ value: [UInt8]) -> RuleMatch? {
        for item in value.split(separator: 0x2C) {
            let name = Array(item).trimmed
            let token = name.split(separator: 0x2E).last.map(Array.init) ?? []
            let isToken =
                ValueKind(name).isCredentialByForm
                || (token.count >= 22
                    && token.contains(where: \.isASCIIDigit) && Randomness.bits(of: token) >= 128)
            guard isToken else { continue }
            return RuleMatch(
                .plainHTTPBearer, .high, .certain, header: Array("sec-websocket-protocol".utf8),
                value: name)
        }
        return nil
    }

    private static func scheme(_ word: String) -> AuthorizationScheme {
        AuthorizationScheme(rawValue: word) ?? .other
    }
}

extension RuleText {
    static let plainHTTPBasic = RuleText(
        title: "Basic credentials over cleartext HTTP",
        reason: "Base64 hides nothing: whoever is on the path reads the name and the password",
        advice: "use https for this endpoint, and change the credential: it has been exposed",
        decision:
            "A request without TLS has Authorization: Basic whose Base64 holds a name and a colon"
            + " (RFC 7617 §2).",
        exceptions: "Placeholders are no credentials. A peer on this machine makes it info.",
        worst: .critical,
        weaknesses: [319, 522, 523])

    static let plainHTTPProxy = RuleText(
        title: "Proxy credentials over cleartext HTTP",
        reason: "whoever is between the client and the proxy reads the credentials",
        advice: "reach the proxy over TLS, or authenticate with a scheme that sends no password",
        decision:
            "A request has Proxy-Authorization with a credential, on its way to the proxy without"
            + " TLS (RFC 9110 §11.7.2).",
        exceptions:
            "What is for the proxy that recorded it is info: another proxy takes its place.",
        worst: .critical,
        weaknesses: [319, 522, 523])

    static let plainHTTPBearer = RuleText(
        title: "Bearer or session token over cleartext HTTP",
        reason: "whoever copies the token from the path acts as the user until it expires",
        advice: "use https for this endpoint, and change the credential: it has been exposed",
        decision:
            "A request without TLS has Authorization: Bearer, or a subprotocol or a message of a"
            + " WebSocket that is a token by its form (RFC 6750 §5.3).",
        exceptions: "Placeholders, and keys that their provider means to be public.",
        worst: .high,
        weaknesses: [319, 522])

    static let plainHTTPAuthorization = RuleText(
        title: "Unknown or scheme-less Authorization over cleartext HTTP",
        reason: "a credential of some scheme crosses the network in cleartext",
        advice: "use https for this endpoint, and change the credential: it has been exposed",
        decision:
            "A request without TLS has Authorization in a scheme that is not known here, or in"
            + " none.",
        exceptions: "Placeholders are no credentials. A peer on this machine makes it info.",
        worst: .high,
        weaknesses: [319, 522])

    static let hashHTTPDigest = RuleText(
        title: "Digest challenge-response over cleartext HTTP",
        reason: "the response can be attacked offline, at many millions of guesses a second",
        advice: "use https for this endpoint",
        decision: "A request without TLS has Authorization: Digest (RFC 7616 §3.4).",
        exceptions: "Placeholders are no credentials. A peer on this machine makes it info.",
        worst: .medium,
        weaknesses: [916, 326, 319])

    static let hashHTTPNTLM = RuleText(
        title: "NTLM challenge-response over cleartext HTTP",
        reason: "the response can be relayed, or attacked offline to get the password",
        advice: "use https for this endpoint",
        decision: "A request without TLS has the third message of NTLM ([MS-NLMP] §2.2.1.3).",
        exceptions: "Placeholders are no credentials. A peer on this machine makes it info.",
        worst: .high,
        weaknesses: [916, 326, 319])

    static let hashHTTPSignature = RuleText(
        title: "Signed request over cleartext HTTP",
        reason: "the key stays secret, but content is readable and the request may be replayed",
        advice: "use https for this endpoint, and bind a time to the signature",
        decision: "A request without TLS is signed: AWS, Hawk, Signature.",
        exceptions: "Placeholders are no credentials. A peer on this machine makes it info.",
        worst: .medium,
        weaknesses: [916, 326, 319])
}
