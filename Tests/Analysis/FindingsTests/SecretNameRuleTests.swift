import Base
import Testing
import Traffic

@testable import Findings

/// What a name says of its value, and what only sounds like it.
@Suite struct SecretNameRuleTests {
    @Test(arguments: namedRows + tokenRows + keyRows)
    func judges(_ row: RuleRow) {
        let found = FindingsLaboratory.run(row.traffic).findings.filter { $0.rule == row.rule }
        #expect(found.map(\.severity).first == row.severity)
        #expect(found.map(\.confidence).first == row.confidence)
    }

    /// Names that tell of a password, over TLS as well.
    @Test(arguments: [
        "password_updated_at", "passwordExpiresAt", "password_attempts", "passwordLastSet",
        "password_score", "password_algorithm", "password_question", "password_title",
        "password_page", "invalid_password", "auth.password.count", "secret_name",
        "secret_version", "secret_question", "secret_santa", "otp_method", "otp_sent_at",
        "passwordAuthentication", "passwordHistory", "password_expires_in", "secretKeyRef",
        "cvv_result", "password_id", "password_expires", "password_status",
    ])
    func tellsNothingOfValues(_ name: String) {
        let report = FindingsLaboratory.run([
            .post("{\"\(name)\":\"argon2id-3-4096\"}", json),
            .get("/?\(name)=argon2id-3-4096"), .answer("{\"\(name)\":\"argon2id-3-4096\"}"),
        ])
        let rules: Set<RuleID> = [.plainHTTPForm, .urlPassword, .leakResponseSecret]
        #expect(!report.findings.contains { rules.contains($0.rule) })
    }

    @Test(arguments: [
        "<your password>", "<secret>", "YOUR_PASSWORD", "__PASSWORD__", "...", "-", "N/A",
        "enter password here", "{password}", "%PASSWORD%", "(hidden)", "[masked]", "#######",
        "Please enter your password", "REPLACE_WITH_YOUR_PASSWORD_1",
    ])
    func placeholdersAreNoPasswords(_ value: String) {
        let report = FindingsLaboratory.run([.post("{\"password\":\"\(value)\"}", json)])
        #expect(!report.findings.contains { $0.rule == .plainHTTPForm })
    }
}

private let json = "application/json"
private let form = "application/x-www-form-urlencoded"
private let random = "Zk3vQ9xW2pLr7Ty1Ab5Nc8Md"

private let namedRows: [RuleRow] = [
    .hit(
        "pw beside a user", .plainHTTPForm, .critical, .certain, .post("user=bob&pw=Hunter22", form)
    ),
    .silent("pw alone", .plainHTTPForm, .post("pw=1024&ph=768", form)),
    .hit("French", .plainHTTPForm, .critical, .certain, .post("motdepasse=Hunter22", form)),
    .hit("French words", .plainHTTPForm, .critical, .certain, .post("mot_de_passe=Hunter22", form)),
    .hit("Norwegian", .plainHTTPForm, .critical, .certain, .post("passord=Hunter22", form)),
    .hit(
        "before the word", .plainHTTPForm, .critical, .certain,
        .post("login_password=Hunter22", form)
    ),
    .hit(
        "of a store of secrets", .plainHTTPForm, .high, .firm,
        .post("{\"role_id\":\"r\",\"secret_id\":\"\(random)\"}", json)),
    .silent(
        "errors of fields", .plainHTTPForm,
        .post("{\"errors\":{\"password\":[\"is too short\"]}}", json)),
    .silent("flags", .plainHTTPForm, .post("{\"flags\":{\"password\":\"enabled\"}}", json)),
    .hit(
        "header", .plainHTTPAPIKey, .high, .firm, .get("/", headers: ["X-Password: Hunter22!x"])),
    .hit(
        "cookie", .plainHTTPCookie, .high, .firm, .get("/", headers: ["Cookie: password=Hunter22"])),
]

private let tokenRows: [RuleRow] = [
    .hit(
        "refresh in a form", .plainHTTPBearer, .high, .firm,
        .post("grant_type=refresh_token&refresh_token=\(random)", form)),
    .hit(
        "access in JSON", .plainHTTPBearer, .high, .firm,
        .post("{\"accessToken\":\"\(random)\"}", json)),
    .hit(
        "key in JSON", .plainHTTPBearer, .high, .firm, .post("{\"api_key\":\"\(random)\"}", json)),
    .silent(
        "over TLS", .plainHTTPBearer, .post("{\"accessToken\":\"\(random)\"}", json, over: .https)),
    .hit(
        "of a form, or of a device", .plainHTTPBearer, .medium, .tentative,
        .post("_token=\(random)", form)),
    .hit(
        "token that is one by its form", .plainHTTPBearer, .high, .firm,
        .post("token=\(exampleToken)", form)),
    .silent("of one request", .plainHTTPBearer, .post("csrf_token=\(random)", form)),
    .silent("cursor", .plainHTTPBearer, .post("{\"nextPageToken\":\"\(random)\"}", json)),
    .hit(
        "issued", .plainHTTPBearer, .high, .firm,
        Sample(
            responseHeaders: ["Content-Type: \(json)"],
            responseBody: Array("{\"access_token\":\"\(random)\"}".utf8))),
    .silent("issued over TLS", .plainHTTPBearer, .answer("{\"access_token\":\"\(random)\"}")),
    .hit("reset link", .urlToken, .high, .firm, .get("/?reset_token=\(random)")),
    .hit("of an interface", .urlToken, .high, .firm, .get("/?api_token=\(random)")),
    .hit(
        "a long one", .plainHTTPBearer, .high, .firm,
        .post("{\"access_token\":\"\(long)\"}", json)),
    .hit(
        "a long one in its field", .plainHTTPBearer, .high, .certain,
        .get("/", headers: ["Authorization: Bearer \(long)"])),
    .silent("place in a list", .urlToken, .get("/?scroll_token=\(random)")),
    .silent("of a visit", .urlToken, .get("/?visitorToken=\(random)")),
    .silent(
        "address of a manual", .plainHTTPBearer,
        .post("{\"accessToken\":\"https://docs.test/reference/tokens/how\"}", json)),
    .silent(
        "pass of another kind", .plainHTTPCookie, .get("/", headers: ["Cookie: pass_culture=ab12"])),
    .silent("device", .urlToken, .get("/?deviceToken=\(random)")),
    .silent(
        "version of a key", .plainHTTPAPIKey, .get("/", headers: ["X-Api-Key-Version: 20260101"])),
    .silent("name of a key", .plainHTTPAPIKey, .get("/", headers: ["X-Api-Key-Id: prod-key-17"])),
    .silent("kind", .plainHTTPAPIKey, .get("/", headers: ["X-Auth-Token-Type: persistent"])),
    .hit("user's", .plainHTTPAPIKey, .high, .firm, .get("/", headers: ["X-User-Token: \(random)"])),
]

/// As an RSA key of 2,048 bits signs one.
private let long =
    "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIiwiZXhwIjoxOTAwMDAwMDAwfQ."
    + String(repeating: "Zk3vQ9xW2pLr7Ty1Ab5N", count: 17)
private let privateKey =
    "-----BEGIN PRIVATE KEY-----\n"
    + String(repeating: "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7x\n", count: 8)
    + "-----END PRIVATE KEY-----\n"
private let published = "ghp_" + "A1b9Zx3vQ9xW2pLr7Ty1A1c9Zx3vQ9xW2pMs"

private let keyRows: [RuleRow] = [
    .hit("uploaded", .providerKey, .high, .certain, .post(privateKey, "", over: .https)),
    .hit("called a form", .providerKey, .high, .certain, .post(privateKey, form, over: .https)),
    .hit(
        "text", .providerKey, .high, .certain,
        .post("here it is:\n\(privateKey)", "text/plain", over: .https)),
    .hit(
        "file in a form", .providerKey, .high, .certain,
        .post(
            "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"k.pem\"\r\n\r\n"
                + privateKey + "\r\n--b--\r\n", "multipart/form-data; boundary=b", over: .https)),
    .hit(
        "word of a text", .providerKey, .high, .certain,
        .post("token \(published) of mine", "text/plain", over: .https)),
    .hit(
        "in a path", .providerKey, .high, .certain, .get("/x/\(published)/y", over: .https)),
    .silent(
        "label and a hash", .providerKey,
        .post(
            "{\"pattern\":\"-----BEGIN PRIVATE KEY-----\",\"sha1\":\"0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c\"}",
            json)),
    .silent(
        "example of nothing", .providerKey,
        .post("-----BEGIN PRIVATE KEY-----\n" + String(repeating: "x", count: 64), "text/plain")),
    .silent(
        "manual that is sent", .providerKey,
        .post(
            "Begin with -----BEGIN PRIVATE KEY----- and then paste all of what the other program has"
                + " shown to you, as it was shown, and end it. -----END PRIVATE KEY-----",
            "text/plain")),
]
