internal import Base
internal import Contents

/// KEY-PROVIDER: a provider's secret key, in any part of a message.
enum ProviderKeyDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        var found: [RuleMatch] = []
        for field in view.tellingHeaderFields {
            let value =
                field.name.text == "authorization" ? credential(in: field.value) : field.value
            found += judge(value, in: field, view)
        }
        for cookie in view.cookies { found += judge(cookie.value, in: cookie.field, view) }
        for field in view.urlFields + view.bodyFields {
            found += judge(field.value, in: field, view)
        }
        let path = view.target.path.split(separator: UInt8(ascii: "/"), maxSplits: 64)
        for segment in path where segment.count >= 20 {
            let value = Array(segment.prefix(512))
            found += judge(
                value, in: MessageField(container: .pathParameter, name: [], value: value), view)
        }
        for field in view.structuredResponseFields {
            // What is issued has to be told once.
            guard MessageTokenDetector.token(in: field) == nil else { continue }
            found += judge(field.value, in: field, view, isResponse: true)
        }
        return found + sentText(view, beside: found) + pageText(view)
    }

    private static func judge(
        _ value: [UInt8], in field: MessageField, _ view: ExchangeView, isResponse: Bool = false
    ) -> [RuleMatch] {
        guard value.count >= 20 else { return [] }
        if value.first == 0x2D, PrivateKeyText.characters(in: value) != nil {
            return [match(.high, .certain, value, field, isResponse)]
        }
        guard let key = ProviderKey(value) else { return [] }
        return [match(key, value, field, view, isResponse: isResponse)].compactMap { $0 }
    }

    private static func match(
        _ key: ProviderKey, _ value: [UInt8], _ field: MessageField, _ view: ExchangeView,
        isResponse: Bool
    ) -> RuleMatch? {
        if key.prefix.isPublishable {
            // URL-TOKEN tells of those in a URL.
            guard !field.container.isURL else { return nil }
            var result = match(.info, .firm, value, field, isResponse)
            result.notes.append(.publishable)
            return result
        }
        let isAtHome = !isResponse && owners[key.prefix]?.contains(view.service.text) == true
        // Over TLS, in a header, to its own provider: what the key is for.
        if isAtHome, !view.isClear, field.container == .header { return nil }
        // The name of a key, whose secret does not pass.
        let isName = key.prefix == .awsAccessKey || key.prefix == .awsTemporaryKey
        let isTest = key.prefix == .stripeTest
        return match(
            isName || isTest ? .medium : .high, key.isCertain ? .certain : .firm, value, field,
            isResponse)
    }

    private static func match(
        _ severity: Severity, _ confidence: Confidence, _ value: [UInt8], _ field: MessageField,
        _ isResponse: Bool
    ) -> RuleMatch {
        var result = RuleMatch(.providerKey, severity, confidence, field: field)
        result.value = value
        if isResponse { result.notes.append(.comesBackInResponse) }
        return result
    }

    /// What the client sends that is no fields, such as a file.
    private static func sentText(
        _ view: ExchangeView, beside found: [RuleMatch]
    ) -> [RuleMatch] {
        guard !view.requestBody.isEmpty, !MediaType(view.requestType[...]).isMedia else {
            return []
        }
        // A key that fills a field is told of there.
        let known = Set(found.compactMap(\.value))
        let isKeyKnown = known.contains { PrivateKeyText.characters(in: $0) != nil }
        return text(view.requestBody, view, isResponse: false).filter { match in
            let value = match.value ?? []
            return value.isEmpty ? !isKeyKnown : !known.contains(value)
        }
    }

    /// Pages and scripts, which are no fields either.
    private static func pageText(_ view: ExchangeView) -> [RuleMatch] {
        let type = MediaType(view.responseType[...])
        guard view.hasOriginResponse, type.isHTML || type.isPlain || type.isScript else {
            return []
        }
        return text(view.responseBody, view, isResponse: true)
    }

    private static func text(
        _ text: [UInt8], _ view: ExchangeView, isResponse: Bool
    ) -> [RuleMatch] {
        var found: [RuleMatch] = []
        let field = MessageField(container: .body, name: [], value: [])
        if PrivateKeyText.characters(in: text) != nil {
            found.append(match(.high, .certain, [], field, isResponse))
        }
        ProviderKey.read(in: text) { key, value in
            found += [match(key, value, field, view, isResponse: isResponse)].compactMap { $0 }
            return found.count < limit
        }
        return found
    }

    /// What stands behind the scheme.
    private static func credential(in value: [UInt8]) -> [UInt8] {
        let space = value.prefix(16).firstIndex(of: 0x20)
        return space.map { Array(value[($0 + 1)...]).trimmed } ?? value
    }

    private static let limit = 8
    /// Where a key belongs.
    private static let owners: [PublishedPrefix: Set<String>] = {
        var owners: [PublishedPrefix: Set<String>] = [
            .gitlabPersonal: ["gitlab.com"], .slackBot: ["slack.com"], .slackUser: ["slack.com"],
            .slackApp: ["slack.com"], .sendGrid: ["sendgrid.com"],
            .googleOAuth: ["googleapis.com", "google.com"], .npm: ["npmjs.org", "npmjs.com"],
            .pypi: ["pypi.org"], .anthropic: ["anthropic.com"], .openAIProject: ["openai.com"],
            .huggingFace: ["huggingface.co"], .digitalOcean: ["digitalocean.com"],
            .shopify: ["myshopify.com", "shopify.com"], .mapboxSecret: ["mapbox.com"],
        ]
        let github: [PublishedPrefix] = [
            .githubFineGrained, .githubPersonal, .githubOAuth, .githubUser, .githubServer,
            .githubRefresh,
        ]
        for prefix in github { owners[prefix] = ["github.com", "githubusercontent.com"] }
        for prefix in [PublishedPrefix.stripeLive, .stripeTest, .stripeRestricted] {
            owners[prefix] = ["stripe.com"]
        }
        return owners
    }()
}

extension RuleText {
    static let providerKey = RuleText(
        title: "Secret key of a provider in traffic",
        reason: "whoever reads the key spends and acts as its owner, until somebody revokes it",
        advice: "revoke the key, keep it on a server, and give clients tokens that expire",
        decision:
            "A whole value, or a word of a page, a script or what the client sends, has the prefix,"
            + " the alphabet and the length that a provider publishes for its secret keys, or is a"
            + " private key in PEM (RFC 7468 §10).",
        exceptions:
            "Examples of documentation, and keys in a header on their way to their own provider"
            + " over TLS. Publishable keys are info; names of AWS keys and test keys are medium.",
        worst: .high,
        weaknesses: [798, 522])
}
