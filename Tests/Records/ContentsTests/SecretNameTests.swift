import Testing

@testable import Contents

@Suite struct SecretNameTests {
    private static let passwords = [
        "password", "PASSWORD", "passWord", "userPassword", "user_passwd", "loginpassword", "pwd",
        "txtPwd", "userPWD", "newPassword1", "password_confirmation", "wsse:Password", "j_password",
        "pass", "user[password]", "passphrase", "contrase\u{F1}a", "MotDePasse.mdp", "has\u{142}o",
        "passwort", "benutzerPasswort", "neueskennwort", "CLAVE", "senha", "wachtwoord", "passcode",
        "userPWDHash2", "contrasena",
    ]

    @Test(arguments: passwords)
    func reportsPasswords(_ key: String) {
        #expect(SecretName.reported(Array(key.utf8)) == .password)
    }

    @Test(arguments: [
        "passengers", "compass", "passport", "bypass", "hasPassword", "password_hint", "pwdLength",
        "passwordPolicy", "password-strength", "resetPassword", "passwordUrl", "password_expired",
        "forgotPassword", "passwordless_login_less", "password_min", "passwordMax",
        "password_required", "passwordType", "password_changed_at", "passwordLabel", "encompassed",
        "boarding_pass", "render_pass_count", "trespass", "surpassed",
    ])
    func reportsNoOtherNames(_ key: String) {
        #expect(SecretName.reported(Array(key.utf8)) == nil)
    }

    /// What findings take for a token by its name is shown nowhere else.
    @Test(arguments: SecretName.knownTokens)
    func hidesWhatIsReportedAsAToken(_ name: String) {
        for spelling in [name, name.uppercased(), "x_\(name)"] {
            #expect(SecretName.isParameter(spelling))
            #expect(SecretName.isField(spelling))
        }
    }

    private static let weaker: [(String, SecretClass?)] = [
        ("client_secret", .secret), ("otpCode", .secret), ("card.cvv", .secret), ("CVV2", .secret),
        ("pin", .pin), ("postal_pin_code", .pin), ("spinning", nil), ("opinion", nil),
        ("secretary", nil), ("", nil), ("...", nil), ("access_token", nil),
    ]

    @Test(arguments: weaker)
    func classifiesWeakerNames(_ key: String, _ expected: SecretClass?) {
        #expect(SecretName.reported(Array(key.utf8)) == expected)
    }

    /// What a finding names must not stand in the export beside it.
    @Test(arguments: passwords + weaker.filter { $0.1 != nil }.map(\.0))
    func hidesWhatIsReported(_ key: String) {
        #expect(SecretName.isParameter(key))
        #expect(SecretName.isField(key))
    }

    @Test(arguments: [
        ("PHPSESSID", true, true), ("accessToken", true, true), ("X-Api-Key", true, true),
        ("pw1", true, true), ("sid", true, true), ("upload_id", true, false),
        ("state", true, false), ("code", true, false), ("Idempotency-Key", true, false),
        ("Sec-WebSocket-Key1", true, false), ("X-OAuth-Scopes", false, false),
        ("passengers", false, false), ("keyboard", false, false), ("name", false, false),
        ("", false, false), ("encode", false, false),
    ])
    func hides(_ name: String, asParameter: Bool, asField: Bool) {
        #expect(SecretName.isParameter(name) == asParameter)
        #expect(SecretName.isField(name) == asField)
    }

    @Test(arguments: [
        ("userPWDHash2", ["user", "pwd", "hash"]), ("X-OAuth-Scopes", ["x", "oauth", "scopes"]),
        ("OTPCode", ["otp", "code"]), ("a1b", ["a", "b"]), ("sId", ["s", "id"]), ("__", []),
        ("SId", ["sid"]),
    ])
    func splits(_ name: String, into words: [String]) {
        #expect(NameWords(Array(name.utf8)[...]).texts == words)
    }

    /// A word that hides does so beside letters of another alphabet.
    @Test(arguments: [
        "\u{5BC6}\u{7801}pwd", "\u{7528}\u{6237}key", "\u{30D1}\u{30B9}pw", "code\u{E9}",
    ])
    func hidesBesideOtherLetters(_ name: String) {
        #expect(SecretName.isParameter(name))
    }
}
