internal import Base
internal import Contents

/// PLAIN-HTTP-BEARER in messages: browsers cannot set Authorization on a WebSocket, so that clients
/// send their tokens in its first message.
enum MessageTokenDetector {
    /// - Parameter fields: the values of one message that the client sent in cleartext.
    static func examine(_ fields: [MessageField]) -> [RuleMatch] {
        fields.compactMap { field in
            guard let token = token(in: field) else { return nil }
            var result = RuleMatch(.plainHTTPBearer, .high, .firm, field: field)
            result.value = token
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
        guard !Placeholder.matches(token),
            (shortest...MessageField.valueLimit).contains(token.count),
            PublishedPrefix(of: token)?.isPublishable != true
        else { return nil }
        let isToken = ValueKind(token).isCredentialByForm || Randomness.bits(of: token) >= 64
        return isToken ? token : nil
    }

    /// In bytes.
    private static let shortest = 16
}
