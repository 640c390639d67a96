internal import Base
internal import Contents

/// PLAIN-HTTP-BEARER in contents and messages: a client that fetches a new token sends the old one in a
/// form, and browsers cannot set Authorization on a WebSocket, so that clients send their tokens in its
/// first message.
enum MessageTokenDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        guard view.isClear else { return [] }
        var sent = examine(view.bodyFields)
        for index in sent.indices {
            let (value, name) = (sent[index].value ?? [], sent[index].name)
            if PublicKey.matches(value, named: name, at: view.service) { sent[index].makePublic() }
            sent[index].notes += view.verdict
        }
        let issued = view.structuredResponseFields.filter {
            $0.container != .header && issuedNames.contains($0.key.lettersAndDigits)
        }
        var received = examine(issued)
        for index in received.indices { received[index].notes.append(.comesBackInResponse) }
        return sent + received
    }

    /// - Parameter fields: the values of one content or message that the client sent in cleartext.
    static func examine(_ fields: [MessageField]) -> [RuleMatch] {
        fields.compactMap { field in
            guard let token = token(in: field) else { return nil }
            var result = RuleMatch(.plainHTTPBearer, .high, .firm, field: field)
            result.value = token
            // Of a request in a form, a device or a visit as well, but for a message's, which begins
            // with who sends it.
            let isAmbiguous =
                field.container != .message && commonNames.contains(field.key.lettersAndDigits)
                && !ValueKind(token).isCredentialByForm
            if isAmbiguous || field.isInFile {
                (result.severity, result.confidence) = (.medium, .tentative)
            }
            if field.isInFile { result.notes.append(.inUploadedFile) }
            return result
        }
    }

    /// The token of a field that is named like one.
    static func token(in field: MessageField) -> [UInt8]? {
        guard field.isScalar, field.value.count >= shortest else { return nil }
        return SecretName.token(field.key.lettersAndDigits) == .token ? token(field.value) : nil
    }

    /// The value, or what stands behind its scheme, if it is random enough to be one.
    private static func token(_ value: [UInt8]) -> [UInt8]? {
        let space = value.prefix(16).firstIndex(of: 0x20)
        let token = space.map { Array(value[($0 + 1)...]) } ?? value
        guard !Placeholder.matches(token), !token.contains(run: Array("://".utf8)),
            (shortest...MessageField.valueLimit).contains(token.count),
            PublishedPrefix(of: token)?.isPublishable != true
        else { return nil }
        let isToken = ValueKind(token).isCredentialByForm || Randomness.bits(of: token) >= 64
        return isToken ? token : nil
    }

    /// Of what a login gives out.
    private static let issuedNames: Set<String> = [
        "accesstoken", "authtoken", "bearertoken", "idtoken", "jwt", "refreshtoken", "sessiontoken",
    ]
    private static let commonNames: Set<String> = ["token", "sessionid"]
    /// In bytes.
    private static let shortest = 16
}
