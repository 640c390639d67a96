internal import Base
internal import Contents

/// PLAIN-HTTP-FORM: a field of the request's content whose name says that it holds a password.
enum PasswordFieldDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        guard view.isClear else { return [] }
        return examine(view.bodyFields, verdict: view.verdict)
    }

    /// - Parameter fields: the values of one message that the client sent in cleartext.
    static func examine(_ fields: [MessageField], verdict: [FindingNote]) -> [RuleMatch] {
        let hasUser = fields.contains { field in
            !Self.users.isDisjoint(with: NameWords(field.key[...]).texts)
        }
        return fields.compactMap { field in
            let isPassword = hasUser && SecretName.isPasswordBesideUser(field.key)
            guard let (severity, confidence) = judge(field, isPassword: isPassword) else {
                return nil
            }
            var result = RuleMatch(.plainHTTPForm, severity, confidence, field: field)
            result.value = field.value
            result.isPassword = true
            if hasUser { result.notes.append(.userFieldBeside) }
            if field.isInFile {
                result.confidence = .tentative
                result.severity = min(severity, .medium)
                result.notes.append(.inUploadedFile)
            }
            result.notes += verdict
            return result
        }
    }

    /// How bad a field of this name and value is in cleartext, `nil` if it is none.
    ///
    /// - Parameter isPassword: whether its name says that it is a password together with others.
    static func judge(
        _ field: MessageField, isPassword: Bool = false
    ) -> (Severity, Confidence)? {
        guard field.isScalar, (1...256).contains(field.value.count), !tellsOfFields(field) else {
            return nil
        }
        let verdict: (Severity, Confidence)
        switch isPassword ? .password : SecretName.reported(field.key) {
        case .password: verdict = (.critical, .certain)
        case .secret: verdict = (.high, .firm)
        case .pin: verdict = (.medium, .tentative)
        case .session, nil: return nil
        }
        return Placeholder.matches(field.value) ? nil : verdict
    }

    /// Whether what stands around it is what a form says of its fields, by their names.
    private static func tellsOfFields(_ field: MessageField) -> Bool {
        field.pointer.dropLast().contains { name in
            name.count <= 64 && NameWords(name[...]).texts.last.map(tellingNames.contains) ?? false
        }
    }

    private static let tellingNames: Set<String> = [
        "columns", "descriptions", "dirty", "error", "errors", "flags", "hints", "labels",
        "mapping", "messages", "placeholders", "properties", "selectors", "strings", "touched",
        "translations", "types", "validation", "warnings",
    ]
    private static let users: Set<String> = [
        "user", "username", "login", "email", "mail", "account", "userid", "name", "phone",
    ]
}

extension RuleText {
    static let plainHTTPForm = RuleText(
        title: "Password field submitted over cleartext HTTP",
        reason:
            "whoever is on the path reads the password, and often it opens other accounts as well",
        advice: "use https for this endpoint, and change the credential: it has been exposed",
        decision:
            "A field of a form, of multipart, JSON, XML, GraphQL, MessagePack, CBOR or a property"
            + " list, or of a WebSocket's message is named like a password, in any of a dozen"
            + " languages, and was sent without TLS.",
        exceptions:
            "Names that only sound alike (passenger, password_hint), empty values, switches and"
            + " placeholders. In an uploaded file it is tentative.",
        worst: .critical,
        weaknesses: [319, 523])
}
