/// A login that can be read in a dialogue's bytes, with its secret or with what was made of it; it
/// lives no longer than its match.
struct ClearLogin {
    let protocolName: ProtocolName
    let form: LoginForm
    var user: [UInt8]?
    let secret: [UInt8]
    /// Whether the secret is one that challenges were answered with, and does not pass itself.
    private(set) var isHash = false
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
        hash: ArraySlice<UInt8>
    ) {
        self.init(protocolName, form, user: user, secret: hash)
        isHash = true
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
