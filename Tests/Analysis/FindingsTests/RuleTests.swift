import Base
import TestConditions
import Testing
import Traffic

@testable import Findings

@Suite struct RuleTests {
    /// A rule that was forgotten where its text is looked up would have that of another.
    @Test func haveTextsOfTheirOwn() {
        #expect(Set(RuleID.allCases.map(\.text.title)).count == RuleID.allCases.count)
    }

    static let rows = authorizationRows + keyRows + cookieRows + formRows + pageRows + urlRows

    @Test(arguments: rows)
    func judges(_ row: RuleRow) {
        let report = FindingsLaboratory.run(row.traffic)
        let found = report.findings.filter { $0.rule == row.rule }
        #expect(found.map(\.severity).first == row.severity)
        #expect(found.map(\.confidence).first == row.confidence)
    }
}

private let authorizationRows: [RuleRow] = [
    .hit(
        "two spaces, colon in the password", .plainHTTPBasic, .critical, .certain,
        .clear("Authorization: Basic  dGVzdDoxOjM0")),
    .hit(
        "recorded from http.client", .plainHTTPBasic, .critical, .certain,
        .clear("Authorization: Basic cHJvYmUudXNlcjpQcjBiZS1TM2NyZXQh")),
    .hit(
        "no padding, any case", .plainHTTPBasic, .critical, .certain,
        .clear("authorization: bAsIc YTpiYw")),
    .hit(
        "behind a field of a megabyte", .plainHTTPBasic, .critical, .certain,
        .clear(
            "X-Long: \(String(repeating: "a", count: 1 << 20))",
            "Authorization: Basic YTpiYw==")),
    .hit(
        "empty password", .plainHTTPBasic, .low, .certain, .clear("Authorization: Basic dXNlcjo=")),
    .hit(
        "key for a user, empty password", .plainHTTPBasic, .high, .certain,
        .clear("Authorization: Basic \(base64("sk_live_" + "4eC39HqLyjWDarjtT1zd:"))")),
    .hit(
        "a key that is meant to be seen", .plainHTTPBasic, .info, .certain,
        .clear("Authorization: Basic \(base64("pk_live_" + "4eC39HqLyjWDarjtT1zd:"))")),
    .silent(
        "redacted", .plainHTTPBasic,
        .clear("Authorization: Basic \(base64("user:redacted"))")),
    .silent(
        "a template", .plainHTTPBasic,
        .clear("Authorization: Basic \(base64("{{user}}:{{password}}"))")),
    .silent(
        "a template for a user", .plainHTTPBasic,
        .clear("Authorization: Basic \(base64("${API_KEY}:"))")),
    .silent("no colon", .plainHTTPBasic, .clear("Authorization: Basic bm9jb2xvbg==")),
    .silent("no Base64", .plainHTTPBasic, .clear("Authorization: Basic !!!")),
    .silent(
        "inside of TLS", .plainHTTPBasic,
        .get("/", over: .https, headers: ["Authorization: Basic dGVzdDoxOjM0"])),
    .hit(
        "upper case", .plainHTTPBearer, .high, .certain,
        .clear("Authorization: BEARER 1gsho83n4k2m9x0q")),
    .hit(
        "publishable", .plainHTTPBearer, .info, .certain,
        .clear("Authorization: Bearer pk_live_" + "abcdefghijklmnop")),
    .hit(
        "token scheme", .plainHTTPBearer, .high, .certain, .clear("Authorization: Token abcdef12")),
    .hit(
        "subprotocol", .plainHTTPBearer, .high, .certain,
        .clear("Sec-WebSocket-Protocol: chat, \(exampleToken)")),
    .hit(
        "query", .plainHTTPBearer, .high, .certain, .get("/?access_token=\(exampleToken)")),
    .hit(
        "a form that claims a coding which is none", .plainHTTPForm, .critical, .certain,
        Sample(
            method: "POST",
            headers: ["Content-Type: application/json", "Content-Encoding: utf-8"],
            body: Array(#"{"password":"hunter22xX"}"#.utf8))),
    .silent("undefined", .plainHTTPBearer, .clear("Authorization: Bearer undefined")),
    .silent(
        "plain subprotocols", .plainHTTPBearer,
        .clear("Sec-WebSocket-Protocol: graphql-transport-ws, mqtt, v12.stomp")),
    .hit(
        "without a scheme", .plainHTTPAuthorization, .high, .firm,
        .clear("Authorization: \(exampleToken)")),
    .hit("unknown", .plainHTTPAuthorization, .medium, .firm, .clear("Authorization: Turbo x7")),
    .hit(
        "Basic without a colon", .plainHTTPAuthorization, .medium, .firm,
        .clear("Authorization: Basic bm9jb2xvbg==")),
    .silent("empty", .plainHTTPAuthorization, .clear("Authorization: ")),
    .silent("undefined", .plainHTTPAuthorization, .clear("Authorization: Bearer undefined")),
    .silent(
        "Kerberos", .plainHTTPAuthorization, .clear("Authorization: Negotiate YIIBhgYGKwYBBQUC")),
    .hit(
        "Digest", .hashHTTPDigest, .medium, .certain,
        .clear("Authorization: Digest username=\"voi18063\", realm=\"r\", response=\"6629fae4\"")),
    .silent(
        "Digest that was masked", .hashHTTPDigest,
        .clear("Authorization: Digest username=\"u\", response=\"***\"")),
    .silent(
        "a signature that was masked", .hashHTTPSignature,
        .clear("Authorization: AWS4-HMAC-SHA256 Credential=x/y, Signature=xxxxxxxx")),
    .silent(
        "NTLM that was masked", .hashHTTPNTLM, .clear("Authorization: NTLM {{token}}")),
    .silent("Digest inside of Basic", .hashHTTPDigest, .clear("Authorization: Basic YTpi")),
    .silent(
        "Digest is no plain credential", .plainHTTPAuthorization,
        .clear("Authorization: Digest username=\"u\", response=\"6629fae4\"")),
    .hit(
        "NTLMv1", .hashHTTPNTLM, .high, .certain,
        .clear("Authorization: NTLM \(ntlmMessage(type: 3, responseLength: 24))")),
    .hit(
        "NTLMv2 in Negotiate", .hashHTTPNTLM, .medium, .certain,
        .clear("Authorization: Negotiate \(ntlmMessage(type: 3, responseLength: 180))")),
    .silent(
        "NTLM's first message", .hashHTTPNTLM,
        .clear("Authorization: NTLM \(ntlmMessage(type: 1, responseLength: 0))")),
    .hit(
        "signed request", .hashHTTPSignature, .medium, .certain,
        .clear("Authorization: AWS4-HMAC-SHA256 Credential=x/y, Signature=0f0f")),
    .hit(
        "Basic to the proxy", .plainHTTPProxy, .critical, .certain,
        .clear("Proxy-Authorization: Basic dXNlcjpwYXNz")),
    .silent(
        "Digest to the proxy", .plainHTTPProxy,
        .clear("Proxy-Authorization: Digest username=\"u\", response=\"aa\"")),
    .silent(
        "proxy credentials inside of TLS", .plainHTTPProxy,
        .get("/", over: .https, headers: ["Proxy-Authorization: Basic dXNlcjpwYXNz"])),
    .silent(
        "with a WebSocket inside of TLS", .plainHTTPProxy,
        Sample(
            scheme: .https, method: "CONNECT",
            headers: [":protocol: websocket", "Proxy-Authorization: Basic dXNlcjpwYXNz"])),
    .hit(
        "with the request for a tunnel", .plainHTTPProxy, .critical, .certain,
        Sample(
            scheme: .https, method: "CONNECT", target: "api.example:443",
            headers: ["Proxy-Authorization: Basic dXNlcjpwYXNz"])),
]

private let keyRows: [RuleRow] = [
    .hit("X-API-Key", .plainHTTPAPIKey, .high, .firm, .clear("X-API-Key: 9f8a7c6b5d4e")),
    .hit("apikey", .plainHTTPAPIKey, .high, .firm, .clear("apikey: 9f8a7c6b5d4e")),
    .hit("X-Vault-Token", .plainHTTPAPIKey, .high, .firm, .clear("X-Vault-Token: hvs.abcdefgh")),
    .hit("client secret", .plainHTTPAPIKey, .high, .firm, .clear("X-Client-Secret: abcdefgh")),
    .hit(
        "publishable", .plainHTTPAPIKey, .info, .firm,
        .clear("X-Api-Key: pk_live_" + "abcdefghijklmnop")),
    .silent("csrf", .plainHTTPAPIKey, .clear("X-CSRF-Token: 9f8a7c6b5d4e9f8a")),
    .silent("csrf and auth", .plainHTTPAPIKey, .clear("X-XSRF-Auth-Token: 9f8a7c6b5d4e9f8a")),
    .silent("idempotency", .plainHTTPAPIKey, .clear("Idempotency-Key: 9f8a7c6b5d4e9f8a")),
    .silent("too short", .plainHTTPAPIKey, .clear("X-API-Key: abc")),
    .silent("WebSocket", .plainHTTPAPIKey, .clear("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")),
]

private let cookieRows: [RuleRow] = [
    .hit(
        "session name", .plainHTTPCookie, .medium, .firm,
        .clear("Cookie: lang=en; PHPSESSID=8tokb2m4n6v8c0x2z4a6s8d0f2")),
    .hit(
        "seen over TLS", .plainHTTPCookie, .high, .certain,
        Sample(
            scheme: .https, responseHeaders: ["Set-Cookie: app=Zk3vQ9xW2pLr7Ty1; Secure; HttpOnly"]),
        .clear("Cookie: app=Zk3vQ9xW2pLr7Ty1")),
    .hit(
        "64 bits under any name", .plainHTTPCookie, .low, .tentative,
        .clear("Cookie: app=Zk3vQ9xW2pLr7Ty1")),
    .hit(
        "set in cleartext", .plainHTTPCookie, .medium, .firm,
        Sample(responseHeaders: ["Set-Cookie: sid=0123456789abcdef01; Path=/"])),
    .silent("locale", .plainHTTPCookie, .clear("Cookie: lang=en")),
    .silent("long locale", .plainHTTPCookie, .clear("Cookie: user_locale=Zk3vQ9xW2pLr7Ty1")),
    .silent(
        "analytics", .plainHTTPCookie,
        .clear("Cookie: _ga=GA1.2.1234567890.1700000000; _fbp=fb.1.1700000000000.1234567890")),
    .silent("consent", .plainHTTPCookie, .clear("Cookie: CookieConsent=Zk3vQ9xW2pLr7Ty1")),
    .silent("csrf", .plainHTTPCookie, .clear("Cookie: csrftoken=Zk3vQ9xW2pLr7Ty1")),
    .silent("words", .plainHTTPCookie, .clear("Cookie: banner=accept-all-cookies-on-page")),
    .silent("date", .plainHTTPCookie, .clear("Cookie: seen=2026-01-02T03:04:05Z")),
    .silent(
        "made by the tool", .plainHTTPCookie,
        Sample(
            responseHeaders: ["Set-Cookie: sid=0123456789abcdef01"], answeredByTool: true)),
]

private let formRows: [RuleRow] = [
    .hit(
        "JSON", .plainHTTPForm, .critical, .certain,
        .post(#"{"login":"u","password":"tototo"}"#, "application/json")),
    .hit(
        "form", .plainHTTPForm, .critical, .certain,
        .post("user=a&passwd=b%20c", "application/x-www-form-urlencoded")),
    .hit(
        "multipart", .plainHTTPForm, .critical, .certain,
        .post(multipart(#"name="pwd""#, "hunter"), "multipart/form-data; boundary=xYz")),
    .hit(
        "XML", .plainHTTPForm, .critical, .certain,
        .post("<a:Envelope><w:Password Type='t'>hunter&amp;2</w:Password></a:Envelope>", "text/xml")
    ),
    .hit(
        "XML section", .plainHTTPForm, .critical, .certain,
        .post("<a><password><!-- a --><![CDATA[hunter&2]]></password></a>", "text/xml")),
    .hit(
        "XML attribute", .plainHTTPForm, .critical, .certain,
        .post("<login user='u' password='hunter'/>", "application/xml")),
    .hit(
        "GraphQL", .plainHTTPForm, .critical, .certain,
        .post(#"{"query":"m","variables":{"in":{"newPassword":"h"}}}"#, "application/json")),
    .hit(
        "Base64 of JSON in JSON", .plainHTTPForm, .critical, .certain,
        .post("{\"ctx\":\"\(base64(#"{"user":"nora","password":"tototo"}"#))\"}", "text/json")),
    .hit(
        "content coding", .plainHTTPForm, .critical, .certain,
        Sample(
            method: "POST",
            headers: ["Content-Type: application/json", "Content-Encoding: deflate"],
            body: deflated(Array(#"{"password":"tototo"}"#.utf8)))),
    .hit("undeclared type", .plainHTTPForm, .critical, .certain, .post(#"{"pwd":"tototo"}"#, "")),
    .hit("one-time code", .plainHTTPForm, .high, .firm, .post("otp=123456", "")),
    .hit(
        "JSON of AWS", .plainHTTPForm, .critical, .certain,
        .post(#"{"password":"tototo"}"#, "application/x-amz-json-1.1")),
    .hit(
        "JSON that is called a form", .plainHTTPForm, .critical, .certain,
        .post(#"{"password":"tototo"}"#, "application/x-www-form-urlencoded")),
    .hit(
        "JSON of a type of its own", .plainHTTPForm, .critical, .certain,
        .post(#"{"password":"tototo"}"#, "application/vnd.example")),
    .hit("pin", .plainHTTPForm, .medium, .tentative, .post(#"{"pin":1234}"#, "application/json")),
    .hit(
        "in an uploaded file", .plainHTTPForm, .medium, .tentative,
        .post(
            multipart(
                "name=\"f\"; filename=\"a.json\"\r\nContent-Type: application/json",
                #"{"password":"tototo"}"#), "multipart/form-data; boundary=\"xYz\"")),
    .silent(
        "passengers", .plainHTTPForm, .post(#"{"passengers":[1,2]}"#, "application/json")),
    .silent(
        "hasPassword", .plainHTTPForm, .post(#"{"hasPassword":true}"#, "application/json")),
    .silent(
        "boolean", .plainHTTPForm, .post(#"{"password":true}"#, "application/json")),
    .silent("stars", .plainHTTPForm, .post("password=********", "")),
    .silent("template", .plainHTTPForm, .post(#"{"password":"${PASSWORD}"}"#, "")),
    .silent("other template", .plainHTTPForm, .post(#"{"password":"{{password}}"}"#, "")),
    .silent("redacted", .plainHTTPForm, .post(#"{"password":"[REDACTED]"}"#, "")),
    .silent("empty", .plainHTTPForm, .post("password=&user=a", "")),
    .silent(
        "in a response", .plainHTTPForm,
        Sample(
            responseHeaders: ["Content-Type: application/json"],
            responseBody: Array(#"{"password":"logoff"}"#.utf8))),
    .silent(
        "inside of TLS", .plainHTTPForm,
        .post(#"{"password":"x1"}"#, "application/json", over: .https)
    ),
]

private let pageRows: [RuleRow] = [
    .hit(
        "password field in cleartext", .plainHTTPLoginPage, .high, .firm,
        .page("<form><INPUT name=p type='Password'></form>", over: .http)),
    .hit(
        "clear action on a TLS page", .plainHTTPLoginPage, .high, .firm,
        .page(#"<form action="http://x/login">"#, over: .https)),
    .hit(
        "clear formaction", .plainHTTPLoginPage, .high, .firm,
        .page(#"<button formaction=" HTTP://x/login">"#, over: .https)),
    .silent(
        "relative action", .plainHTTPLoginPage, .page(#"<form action="/login">"#, over: .https)),
    .silent(
        "password field inside of TLS", .plainHTTPLoginPage,
        .page("<input type=password>", over: .https)),
    .silent(
        "comment", .plainHTTPLoginPage, .page("<!-- <input type=password> --><p>", over: .http)),
    .silent(
        "script", .plainHTTPLoginPage,
        .page("<script>x='<input type=password>'</script>", over: .http)),
]

private let urlRows: [RuleRow] = [
    .hit(
        "query in cleartext", .urlPassword, .critical, .certain,
        .get("/u.php?ID=K&PASSWORD=12345678")),
    .hit(
        "query inside of TLS", .urlPassword, .high, .certain,
        .get("/u?password=12345678", over: .https)),
    .hit(
        "userinfo", .urlPassword, .high, .certain, .get("https://u:p%40ss@host/", over: .https)),
    .hit(
        "path parameter", .urlPassword, .high, .certain, .get("/a;pwd=hunter/b", over: .https)),
    .hit(
        "GraphQL variables", .urlPassword, .high, .certain,
        .get("/g?variables=%7B%22password%22%3A%22hunter%22%7D", over: .https)),
    .hit(
        "injection attempt", .urlPassword, .low, .certain,
        .get("/u?password=a%3Bcat%20/etc/hosts", over: .https)),
    .hit(
        "Referer", .leakReferer, .high, .certain,
        .get("/", over: .https, headers: ["Referer: https://b.example/x?password=hunter"])),
    .silent("passenger", .urlPassword, .get("/?passenger=2")),
    .silent("compass", .urlPassword, .get("/?compass=1")),
    .silent("empty", .urlPassword, .get("/?password=")),
    .hit(
        "JWT", .urlToken, .medium, .firm, .get("/?access_token=\(exampleToken)", over: .https)),
    .hit(
        "session identifier", .urlToken, .medium, .firm,
        .get("/a;jsessionid=0A1B2C3D4E5F", over: .https)),
    .hit(
        "in cleartext", .urlToken, .high, .firm, .get("/?session_id=Zk3vQ9xW2pLr7Ty1")),
    .hit(
        "leaves in Referer", .leakReferer, .high, .firm,
        .get("/", over: .https, headers: ["Referer: https://b.example/?sid=Zk3vQ9xW2pLr7Ty1"])),
    .hit(
        "presigned", .urlToken, .info, .firm,
        .get(
            "/o?X-Amz-Signature=0f1e2d3c4b5a69788796a5b4c3d2e1f0&X-Amz-Expires=900", over: .https)),
    .hit(
        "shared access signature", .urlToken, .info, .firm,
        .get("/o?se=2026-01-01&sig=Zk3vQ9xW2pLr7Ty1Zk3vQ9xW2pLr7Ty1", over: .https)),
    .hit(
        "publishable", .urlToken, .info, .firm,
        .get("/map?key=AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", over: .https)),
    .silent("page token", .urlToken, .get("/?page_token=CAUQAA", over: .https)),
    .silent(
        "long page token", .urlToken,
        .get("/?next_token=Zk3vQ9xW2pLr7Ty1Zk3vQ9xW2pLr7Ty1", over: .https)),
    .silent(
        "OAuth", .urlToken, .get("/cb?code=Zk3vQ9xW2pLr7Ty1&state=\(exampleToken)", over: .https)),
    .silent("short", .urlToken, .get("/?token=abc", over: .https)),
    .hit("a request", .clearHTTP, .medium, .certain, .get("/v1")),
    .hit(
        "certificate status", .clearHTTP, .info, .certain,
        Sample(host: "status.ca.example", headers: ["Content-Type: application/ocsp-request"])),
    .hit("ocsp host", .clearHTTP, .info, .certain, Sample(host: "ocsp.digicert.com")),
    .hit("revocation list", .clearHTTP, .info, .certain, .get("/root.crl")),
    .hit(
        "captive portal", .clearHTTP, .info, .certain,
        Sample(host: "connectivitycheck.gstatic.com", target: "/generate_204")),
    .silent("inside of TLS", .clearHTTP, .get("/v1", over: .https)),
    .silent("loopback", .clearHTTP, Sample(host: "127.0.0.1:8080")),
    .silent("localhost", .clearHTTP, Sample(host: "localhost:8080")),
    .silent("loopback of IPv6", .clearHTTP, Sample(host: "[::1]:8080")),
    .hit("looks like loopback", .clearHTTP, .medium, .certain, Sample(host: "127.0.0.1.example")),
]

private func multipart(_ disposition: String, _ content: String) -> String {
    "--xYz\r\nContent-Disposition: form-data; \(disposition)\r\n\r\n\(content)\r\n--xYz--\r\n"
}

private func ntlmMessage(type: UInt8, responseLength: UInt8) -> String {
    var message = Array("NTLMSSP\0".utf8) + [type, 0, 0, 0] + [24, 0, 24, 0, 64, 0, 0, 0]
    message += [responseLength, 0, responseLength, 0, 88, 0, 0, 0]
    message += [UInt8](repeating: 0, count: 36) + [UInt8](repeating: 0x41, count: 320)
    return base64Bytes(message)
}
