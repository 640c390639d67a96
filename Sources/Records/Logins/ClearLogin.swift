package import Base

/// A login that can be read in a dialogue's bytes, with its secret or with what was made of it; it
/// lives no longer than its match.
package struct ClearLogin: Sendable {
    package let protocolName: ProtocolName
    package let form: LoginForm
    package internal(set) var user: [UInt8]?
    package let secret: [UInt8]
    /// How bad it is that only what a challenge was answered with passes, by how fast passwords can
    /// be tried; `nil` if the secret itself passes.
    package private(set) var hashSeverity: Severity?
    /// Whether it is what guests give, and no secret.
    package internal(set) var isGuest = false
    /// What the origin answered, where that is plain to see.
    package internal(set) var answer: Answer?
    /// Of NTLM, whether it is its first version.
    package private(set) var isNTLMVersion1: Bool?

    /// What an origin said to it.
    package enum Answer: Sendable { case accepted, rejected }

    /// - Returns: `nil` for an empty secret, which is no login.
    init?(
        _ protocolName: ProtocolName, _ form: LoginForm, user: ArraySlice<UInt8>?,
        secret: ArraySlice<UInt8>
    ) {
        guard !secret.isEmpty else { return nil }
        self.protocolName = protocolName
        self.form = form
        self.user = user.map { Array($0.prefix(Self.sizeLimit)) }
        self.secret = Array(secret.prefix(Self.sizeLimit))
    }

    /// A challenge's answer, of which the secret can be guessed.
    init?(
        _ protocolName: ProtocolName, _ form: LoginForm, user: ArraySlice<UInt8>?,
        hash: ArraySlice<UInt8>, severity: Severity? = nil
    ) {
        self.init(protocolName, form, user: user, secret: hash)
        hashSeverity = severity ?? Self.severity(of: form)
    }

    init?(_ protocolName: ProtocolName, _ answer: NTLMAnswer) {
        self.init(
            protocolName, .ntlm, user: answer.user.isEmpty ? nil : answer.user[...],
            hash: answer.response[...], severity: answer.isVersion1 ? .high : .medium)
        isNTLMVersion1 = answer.isVersion1
    }

    package var isHash: Bool { hashSeverity != nil }

    /// By how fast passwords can be tried, and whether the answer itself opens the door.
    private static func severity(of form: LoginForm) -> Severity {
        switch form {
        case .scram: .low
        case .apop, .vncDES, .passwordMD5: .high
        default: .medium
        }
    }

    /// The message of SASL's PLAIN: an identity, a name and a password (RFC 4616 §2).
    init?(_ protocolName: ProtocolName, _ form: LoginForm, plain message: ArraySlice<UInt8>) {
        let parts = message.split(
            separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        self.init(protocolName, form, user: parts[1], secret: parts[2])
    }

    /// How many logins of one dialogue are told.
    package static let countLimit = 16
    /// In bytes.
    private static let sizeLimit = 8192
}
