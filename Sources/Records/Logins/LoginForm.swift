internal import Base

/// How a client logged in, from a closed list; the raw values are a contract.
package enum LoginForm: String, Sendable, CaseIterable {
    case authPlain = "AUTH PLAIN"
    case authLogin = "AUTH LOGIN"
    case authXOAUTH2 = "AUTH XOAUTH2"
    case authOAUTHBearer = "AUTH OAUTHBEARER"
    case authenticatePlain = "AUTHENTICATE PLAIN"
    case authenticateLogin = "AUTHENTICATE LOGIN"
    case authenticateXOAUTH2 = "AUTHENTICATE XOAUTH2"
    case authenticateOAUTHBearer = "AUTHENTICATE OAUTHBEARER"
    case saslBindPlain = "SASL bind PLAIN"
    case simpleBind = "simple bind"
    case startOkPlain = "Start-Ok PLAIN"
    case saslPlain = "SASL PLAIN"
    case passwordMessage = "PasswordMessage"
    case clearPassword = "mysql_clear_password"
    case configSet = "CONFIG SET"
    case setUser = "ACL SETUSER"
    case migrate = "MIGRATE"
    case authInfo = "AUTHINFO PASS"
    case hello = "HELLO"
    case connect = "CONNECT"
    case login = "LOGIN"
    case pass = "PASS"
    case operate = "OPER"
    case auth = "AUTH"
    case authInfoPlain = "AUTHINFO SASL PLAIN"
    case identify = "IDENTIFY"
    case queryAuth = "jabber:iq:auth"
    case login7 = "LOGIN7"
    case userPassword = "username/password"
    case typed = "a prompt"
    case basic = "Basic"
    case set
    case createUser
    case call = "a call"
    case community
    // What follows shows no secret.
    case digest = "Digest"
    case cramMD5 = "CRAM-MD5"
    case digestMD5 = "DIGEST-MD5"
    case scram = "SCRAM"
    case ntlm = "NTLM"
    case apop = "APOP"
    case passwordMD5 = "PasswordMessage, MD5"
    case nativePassword = "mysql_native_password"
    case cachingSHA2 = "caching_sha2_password"
    case mongoDBCR = "MONGODB-CR"
    case vncDES = "VNC authentication"
    case kerberos = "Kerberos pre-authentication"
    case other = "login"

    /// Recognises what a connection's note of a login in plain begins with.
    package init(note detail: String) {
        let command = detail.dropPrefix("the client logged in by ")
        self =
            LoginForm.allCases.first { form in
                command == form.rawValue || command.hasPrefix(form.rawValue + " ")
            } ?? .other
    }
}

extension String {
    fileprivate func dropPrefix(_ prefix: String) -> Substring {
        hasPrefix(prefix) ? dropFirst(prefix.count) : self[...]
    }
}
