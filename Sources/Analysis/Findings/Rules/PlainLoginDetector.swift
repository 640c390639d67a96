internal import Base
internal import Logins
internal import Traffic

/// PLAIN-LOGIN and HASH-LOGIN: a login without TLS, with its password or with what was made of it.
enum PlainLoginDetector {
    /// Judges what a dialogue, a tunnel or a WebSocket carried.
    static func examine(_ view: MessageView) -> [RuleMatch] {
        guard view.isClear else { return [] }
        return view.logins.map { login in
            var result =
                login.hashSeverity.map { RuleMatch(.hashLogin, $0, .certain) }
                ?? RuleMatch(.plainLogin, severity(of: login), .certain)
            result.container = .dialogue
            result.value = login.secret
            result.isPassword = !login.isHash && !login.isGuest
            result.user = login.user
            result.protocolName = login.protocolName
            result.notes = [.loggedIn(login.form)] + login.verdict
            if login.isGuest {
                result.notes.append(
                    login.form == .community ? .network(.standardCommunity) : .guest)
            }
            return result
        }
    }

    private static func severity(of login: ClearLogin) -> Severity {
        guard login.form == .community else { return login.isGuest ? .info : .critical }
        // What every device begins with is no secret, but tells that none was set.
        return login.isGuest ? .low : .high
    }

    /// Judges what was seen while the connection was relayed.
    ///
    /// - Parameter isRead: whether its bytes have shown a login already, or were read to the end: a
    ///   line that looks like a login may have been mail, or was cancelled.
    static func examine(_ connection: ConnectionRecord, isRead: Bool) -> [RuleMatch] {
        var found: [RuleMatch] = []
        if !isRead, let note = connection.note(.plaintextLogin) {
            var result = RuleMatch(.plainLogin, .critical, .certain)
            result.container = .dialogue
            result.protocolName = ProtocolName(connection.protocolName)
            result.notes = [.loggedIn(LoginForm(note: note.detail))]
            if connection.has(.upgradeOffered) { result.notes.append(.upgradeOffered) }
            found.append(result)
        }
        if connection.has(.proxyLogin) {
            var result = RuleMatch(.plainLogin, .critical, .certain)
            result.container = .dialogue
            result.peer = .proxy
            result.protocolName = .socks
            found.append(result)
        }
        return found
    }
}

extension ClearLogin {
    /// What the origin said to it, and which version of its mechanism it is.
    fileprivate var verdict: [FindingNote] {
        let said: FindingNote? = answer.map { $0 == .accepted ? .serverAccepted : .serverRejected }
        let version: FindingNote? = isNTLMVersion1.map { $0 ? .ntlmVersion1 : .ntlmVersion2 }
        return [said, version].compactMap(\.self)
    }
}

extension RuleText {
    static let plainLogin = RuleText(
        title: "Login with a readable password, without TLS",
        reason: "whoever is on the path reads the name and the password",
        advice:
            "begin with TLS or demand the switch to it before the login, and change the password",
        decision:
            "What was said without TLS is a login of its protocol, known by the dialogue and not by"
            + " the port, and shows the password; or a note in the capture tells of one.",
        exceptions:
            "Anonymous binds and empty passwords; a guest's login at FTP is info. What a server"
            + " says is never a login. A community of SNMP is high, and low if it is `public`.",
        worst: .critical,
        weaknesses: [319, 523])

    static let hashLogin = RuleText(
        title: "Challenge-response login without TLS",
        reason: "the password does not pass, but can be guessed offline from the answer",
        advice: "begin with TLS or demand the switch to it before the login",
        decision: "What was said without TLS is a login of its protocol that answers a challenge.",
        exceptions: "Mechanisms that send no answer that passwords could be tried against.",
        worst: .high,
        weaknesses: [916, 326, 319])
}
