internal import Base
internal import Negotiation

/// What a client says to log in by a mechanism of SASL (RFC 4422 §3), without its framing.
struct SASLAnswers {
    private let mechanism: Mechanism

    private enum Mechanism {
        case plain, login, token
        /// Who listens learns no secret, and can try passwords against the answer.
        case hash(LoginForm)
        case scram
    }

    /// How many answers there are until the login is whole.
    let count: Int

    /// - Parameter word: the mechanism's name; `nil` is returned for others than are understood.
    init?(mechanism word: ArraySlice<UInt8>) {
        switch SASLMechanism(word) {
        case .plain: (mechanism, count) = (.plain, 1)
        case .login: (mechanism, count) = (.login, 2)
        case .xoauth2, .unregisteredOAuth2, .oauthBearer: (mechanism, count) = (.token, 1)
        case .cramMD5: (mechanism, count) = (.hash(.cramMD5), 1)
        case .digestMD5: (mechanism, count) = (.hash(.digestMD5), 1)
        case .ntlm: (mechanism, count) = (.hash(.ntlm), 2)
        case .scramSHA1, .scramSHA1Plus, .scramSHA256, .scramSHA256Plus, .scramSHA512,
            .scramSHA512Plus:
            (mechanism, count) = (.scram, 2)
        case .gssapi, .gssSPNEGO, .external, .anonymous, nil: return nil
        }
    }

    /// The login that the answers make, `nil` if they make none.
    ///
    /// - Parameter form: how a secret in plain is told.
    func login(
        _ name: ProtocolName, _ form: LoginForm, _ answers: [[UInt8]]
    ) -> ClearLogin? {
        guard answers.count >= count, let first = answers.first, let last = answers.last else {
            return nil
        }
        switch mechanism {
        case .plain: return ClearLogin(name, form, plain: first[...])
        case .login: return ClearLogin(name, form, user: first[...], secret: last[...])
        case .token:
            // Pairs behind a GS2 header, parted by 0x01 (RFC 7628 §3.1).
            let parts = first.split(separator: 1)
            let token = parts.first { $0.starts(with: "auth=Bearer ".utf8) }
            let user = parts.first { $0.starts(with: "user=".utf8) }
            return token.flatMap {
                ClearLogin(name, form, user: user?.dropFirst(5), secret: $0.dropFirst(12))
            }
        case .hash(let form): return Self.hash(name, form, last)
        case .scram:
            guard last.contains(run: Array(",p=".utf8)) else { return nil }
            let user = Self.value("n", in: first.split(separator: 0x2C))
            return ClearLogin(name, .scram, user: user, hash: last[...])
        }
    }

    private static func hash(
        _ name: ProtocolName, _ form: LoginForm, _ answer: [UInt8]
    ) -> ClearLogin? {
        switch form {
        case .cramMD5:
            guard let space = answer.lastIndex(of: 0x20) else { return nil }
            let digest = answer[(space + 1)...]
            guard digest.count == 32, digest.allSatisfy({ $0.hexDigitValue != nil }) else {
                return nil
            }
            return ClearLogin(name, form, user: answer[..<space], hash: digest)
        case .digestMD5:
            let parts = answer.split(separator: 0x2C)
            guard let response = value("response", in: parts) else { return nil }
            let user = value("username", in: parts)
            return ClearLogin(
                name, form, user: user?.filter { $0 != 0x22 }[...], hash: response)
        default: return NTLMAnswer(in: answer).flatMap { ClearLogin(name, $0) }
        }
    }

    private static func value(
        _ key: String, in parts: [ArraySlice<UInt8>]
    ) -> ArraySlice<UInt8>? {
        parts.first { $0.starts(with: "\(key)=".utf8) }?.dropFirst(key.utf8.count + 1)
    }
}
