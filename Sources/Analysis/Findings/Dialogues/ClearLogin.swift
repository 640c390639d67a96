internal import Base

/// A login that can be read in a dialogue's bytes, with its secret or with what was made of it; it
/// lives no longer than its match.
struct ClearLogin {
    let protocolName: ProtocolName
    let form: LoginForm
    var user: [UInt8]?
    let secret: [UInt8]
    /// How bad it is that only what a challenge was answered with passes, by how fast passwords can
    /// be tried; `nil` if the secret itself passes.
    private(set) var hashSeverity: Severity?
    /// Whether it is what guests give, and no secret.
    var isGuest = false
    /// What the origin answered, where that is plain to see.
    var verdict: [FindingNote] = []

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
        verdict = [answer.isVersion1 ? .ntlmVersion1 : .ntlmVersion2]
    }

    var isHash: Bool { hashSeverity != nil }

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
    static let countLimit = 16
    private static let sizeLimit = MessageField.valueLimit
}
