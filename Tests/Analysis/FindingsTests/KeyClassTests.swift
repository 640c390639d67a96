import Testing

@testable import Findings

@Suite struct KeyClassTests {
    @Test(arguments: [
        "password", "PASSWORD", "passWord", "userPassword", "user_passwd", "loginpassword", "pwd",
        "txtPwd", "userPWD", "newPassword1", "password_confirmation", "wsse:Password", "j_password",
        "pass", "user[password]", "passphrase", "contrase\u{F1}a", "MotDePasse.mdp", "has\u{142}o",
    ])
    func recognisesPasswords(_ key: String) {
        #expect(KeyClass(Array(key.utf8)) == .password)
    }

    @Test(arguments: [
        "passengers", "compass", "passport", "bypass", "hasPassword", "password_hint", "pwdLength",
        "passwordPolicy", "password-strength", "resetPassword", "passwordUrl", "password_expired",
        "forgotPassword", "passwordless_login_less", "password_min", "passwordMax",
        "password_required", "passwordType", "password_changed_at", "passwordLabel", "encompassed",
        "boarding_pass", "render_pass_count", "trespass", "surpassed",
    ])
    func leavesOtherNamesAlone(_ key: String) {
        #expect(KeyClass(Array(key.utf8)) == .none)
    }

    @Test(arguments: [
        ("client_secret", KeyClass.secret), ("otpCode", .secret), ("card.cvv", .secret),
        ("pin", .pin), ("postal_pin_code", .pin), ("spinning", .none), ("opinion", .none),
        ("secretary", .none), ("", .none), ("...", .none),
    ])
    func classifiesWeakerNames(_ key: String, _ expected: KeyClass) {
        #expect(KeyClass(Array(key.utf8)) == expected)
    }
}
