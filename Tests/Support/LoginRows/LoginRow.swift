package import Logins
import Testing

/// A dialogue without TLS, turn by turn, and the logins in it.
package struct LoginRow: Sendable, CustomTestStringConvertible {
    package let name: String
    package let said: [Said]
    /// `protocol form user secret`, a line each.
    package let logins: [String]
    package let answer: ClearLogin.Answer?
    package let isNTLMVersion1: Bool?
    package var testDescription: String { name }

    init(
        _ name: String, _ said: Said..., logins: [String] = [],
        answer: ClearLogin.Answer? = nil, isNTLMVersion1: Bool? = nil
    ) {
        self.name = name
        self.said = said
        self.logins = logins
        self.answer = answer
        self.isNTLMVersion1 = isNTLMVersion1
    }

    /// All with a login, but those of quiet rows.
    package static let logins = redis + packets + hashes + lines + streams
}
