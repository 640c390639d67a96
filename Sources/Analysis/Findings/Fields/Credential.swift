internal import Base
internal import Contents

/// A value with which the client shows who it is, wherever it stands and whatever carries it.
struct Credential {
    enum Kind {
        case password
        /// What stands for an account or a session: a bearer token, a key, a session's cookie.
        case token
    }

    let kind: Kind
    let field: MessageField
    var value: [UInt8] { field.value }

    /// Those of a request.
    static func read(_ view: ExchangeView) -> [Credential] {
        var found = authorization(view)
        found += view.cookies.compactMap { cookie in
            guard !cookie.isSet, !cookie.isHarmless, cookie.hasSessionName, view.tracker == nil,
                Randomness.bits(of: cookie.value) >= 64
            else { return nil }
            return Credential(kind: .token, field: cookie.field)
        }
        for field in view.urlFields + view.bodyFields where found.count < limit {
            if let kind = kind(of: field, at: view.service) {
                found.append(Credential(kind: kind, field: field))
            }
        }
        return found
    }

    private static func authorization(_ view: ExchangeView) -> [Credential] {
        var found: [Credential] = []
        for field in view.headerFields {
            let match =
                field.name.text == "authorization"
                ? AuthorizationDetector.judge(field.value)
                : APIKeyDetector.judge(field, at: view.service)
            guard let match, match.severity > .low, let value = match.value,
                !match.rule.rawValue.hasPrefix("HASH-")
            else { continue }
            found.append(
                Credential(
                    kind: match.isPassword ? .password : .token,
                    field: MessageField(container: .header, name: field.name, value: value)))
        }
        return found
    }

    private static func kind(of field: MessageField, at service: ServiceName) -> Kind? {
        guard field.container != .referer, !field.isInFile else { return nil }
        if let (_, confidence) = PasswordFieldDetector.judge(field), confidence > .tentative {
            return confidence == .certain || Randomness.bits(of: field.value) >= 64
                ? .password : nil
        }
        guard let token = MessageTokenDetector.token(in: field),
            !PublicKey.matches(token, named: field.key, at: service)
        else { return nil }
        return .token
    }

    private static let limit = 64
}
