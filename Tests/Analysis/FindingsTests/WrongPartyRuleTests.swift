import Base
import Testing
import Traffic

@testable import Findings

/// Secrets where they do not belong, as one exchange shows them.
@Suite struct WrongPartyRuleTests {
    static let rows: [RuleRow] =
        providerRows + refererRows + tokenRows + responseRows + clientSecretRows + publicRows

    @Test(arguments: rows)
    func judges(_ row: RuleRow) {
        let found = FindingsLaboratory.run(row.traffic).findings.filter { $0.rule == row.rule }
        #expect(found.map(\.severity).first == row.severity)
        #expect(found.map(\.confidence).first == row.confidence)
    }

    @Test(arguments: [
        ("tracker.example", ["tracker.example"]),
        ("127.0.0.1 ads.one.test # comment", ["ads.one.test"]),
        ("||two.test^\n||three.test^$third-party\n@@||four.test^", ["three.test", "two.test"]),
        ("||five.test/path\n||six.test^$domain=a.test\n##.ad\n! seven.test", []),
        (
            #"{"categories":{"Advertising":[{"A":{"https://a.test":["one.test","two.test"]}}]}}"#,
            ["one.test", "two.test"]
        ),
        (#"{"domain":"one.test","owner":{"name":"One Inc."},"prevalence":0.01}"#, ["one.test"]),
        ("no list\nat all, but text.", []),
    ])
    func readsLists(_ text: String, _ expected: [String]) {
        var hosts = TrackerHosts()
        hosts.add(list: Array(text.utf8))
        let asked = [
            "tracker.example", "ads.one.test", "one.test", "two.test", "three.test", "four.test",
            "five.test", "six.test", "seven.test", "a.test",
        ]
        let exact = asked.filter { hosts.entry(for: HostName($0))?.domain == Array($0.utf8) }
        #expect(exact.sorted() == expected)
    }

    /// By whole labels, and never inside of a name.
    @Test(arguments: [
        ("app-measurement.com", true), ("x.y.app-measurement.com", true),
        ("notapp-measurement.com", false), ("app-measurement.com.evil.test", false),
        ("data4.tld", false), ("203.0.113.9", false), ("com", false), ("", false),
    ])
    func knowsTrackers(_ host: String, _ isKnown: Bool) {
        #expect((TrackerHosts().entry(for: HostName(host)) != nil) == isKnown)
    }
}

// Put together here, so that no scanner takes them for real ones.
private let stripe = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
private let github = "ghp_" + "A1b9Zx3vQ9xW2pLr7Ty1Km4nB6vC8xZ0aSdF"
private let amazon = "AKIA" + "Z7QX3LN5VB2KD6RM"
private let google = "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"

private let providerRows: [RuleRow] = [
    .hit("query", .providerKey, .high, .certain, .get("/?k=\(stripe)&b=1", over: .https)),
    .hit("JSON", .providerKey, .high, .certain, .post("{\"k\":\"\(github)\"}", "", over: .https)),
    .hit("XML", .providerKey, .high, .certain, .post("<k>\(stripe)</k>", "text/xml", over: .https)),
    .hit(
        "header of another service", .providerKey, .high, .certain,
        Sample(scheme: .https, headers: ["Authorization: Bearer \(stripe)"])),
    .hit(
        "cookie", .providerKey, .high, .certain,
        Sample(scheme: .https, headers: ["Cookie: a=b; k=\(github)"])),
    .hit(
        "script", .providerKey, .high, .certain,
        .answer("var k = \"\(stripe)\";", "application/javascript")),
    .hit(
        "its provider in cleartext", .providerKey, .high, .certain,
        Sample(host: "api.stripe.com", headers: ["Authorization: Bearer \(stripe)"])),
    .hit(
        "name of an AWS key", .providerKey, .medium, .firm,
        .post("{\"id\":\"\(amazon)\"}", "", over: .https)),
    .hit(
        "private key", .providerKey, .high, .certain,
        .answer(
            "-----BEGIN RSA PRIVATE KEY-----\n" + String(repeating: "MIIEow", count: 40),
            "text/plain")),
    .hit(
        "publishable", .providerKey, .info, .firm,
        .post("{\"k\":\"pk_live_" + "51H8xKzQ2vN4mW7yB9cD\"}", "", over: .https)),
    .silent(
        "at its provider", .providerKey,
        Sample(
            scheme: .https, host: "api.stripe.com", headers: ["Authorization: Bearer \(stripe)"])),
    .silent(
        "issued", .providerKey, .answer("{\"access_token\":\"gho_" + github.dropFirst(4) + "\"}")),
    .silent(
        "repeated character", .providerKey,
        .get("/?k=ghp_" + String(repeating: "x", count: 36), over: .https)),
    .silent(
        "of documentation", .providerKey, .get("/?k=AKIA" + "IOSFODNN7EXAMPLE", over: .https)),
    .silent(
        "in a row", .providerKey,
        .get("/?k=ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789", over: .https)),
    .silent("too short", .providerKey, .get("/?k=ghp_" + "A1b9Zx3vQ9xW2pLr7Ty1", over: .https)),
    .silent("part of a longer word", .providerKey, .get("/?k=a\(github)b", over: .https)),
    .silent(
        "manual", .providerKey,
        .answer("begin with -----BEGIN PRIVATE KEY----- and so on", "text/plain")),
    .silent("hash", .providerKey, .get("/?k=0f1e2d3c4b5a69788796a5b4c3d2e1f0", over: .https)),
]

private func referer(_ url: String, scheme: ExchangeRecord.Scheme = .https) -> Sample {
    Sample(scheme: scheme, host: "stats.other", headers: ["Referer: \(url)"])
}

private let refererRows: [RuleRow] = [
    .hit(
        "reset link", .leakReferer, .high, .firm,
        referer("https://a.one.test/reset?token=Zk3vQ9xW2pLr7Ty1")),
    .hit(
        "password", .leakReferer, .high, .certain, referer("https://a.one.test/?password=hunter2")),
    .hit("userinfo", .leakReferer, .high, .certain, referer("https://u:p4ss@a.one.test/")),
    .hit("e-mail", .leakReferer, .medium, .firm, referer("https://a.one.test/?u=nora@corp.tld")),
    .silent("path", .leakReferer, referer("https://a.one.test/reset/Zk3vQ9xW2pLr7Ty1")),
    .silent("origin", .leakReferer, referer("https://a.one.test/")),
    .silent(
        "same service", .leakReferer, referer("https://www.stats.other/?token=Zk3vQ9xW2pLr7Ty1")),
    .silent("cursor", .leakReferer, referer("https://a.one.test/?page_token=Zk3vQ9xW2pLr7Ty1")),
    .silent("image", .leakReferer, referer("https://a.one.test/?i=icon@2x.png")),
]

private func webToken(
    _ claims: String, header: String = #"{"alg":"RS256","typ":"JWT"}"#, signature: String = "c2ln"
) -> Sample {
    let parts = [header, claims].map { base64($0).filter { $0 != "=" } } + [signature]
    return Sample(
        scheme: .https, headers: ["Authorization: Bearer \(parts.joined(separator: "."))"])
}

private let tokenRows: [RuleRow] = [
    .hit(
        "no signature", .weakToken, .critical, .certain,
        webToken(#"{"sub":"1","exp":900}"#, header: #"{"alg":"none"}"#, signature: "")),
    .hit(
        "signature left out", .weakToken, .critical, .certain,
        webToken(#"{"sub":"1","exp":900}"#, signature: "")),
    .hit(
        "names its key's source", .weakToken, .medium, .certain,
        webToken(
            #"{"iat":1,"exp":900}"#, header: #"{"alg":"RS256","jku":"https://a.test/k"}"#)),
    .hit("never expires", .weakToken, .medium, .firm, webToken(#"{"sub":"1","iat":1}"#)),
    .hit("long-lived", .weakToken, .low, .certain, webToken(#"{"iat":1,"exp":900000}"#)),
    .silent("a quarter of an hour", .weakToken, webToken(#"{"iat":1,"exp":901}"#)),
    .silent(
        "refresh token of a month", .weakToken,
        webToken(#"{"iat":1,"exp":2592001,"typ":"Refresh"}"#)),
    .silent(
        "no JSON", .weakToken,
        Sample(scheme: .https, headers: ["Authorization: Bearer eyJhbGci.eyJzdWIi.c2ln"])),
    .silent(
        "opaque", .weakToken,
        Sample(scheme: .https, headers: ["Authorization: Bearer Zk3vQ9xW2pLr7Ty1"])),
]

private let responseRows: [RuleRow] = [
    .hit(
        "bcrypt", .leakResponseSecret, .high, .firm,
        .answer(
            #"{"user":{"hash":"$2y$05$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"}}"#)),
    .hit(
        "argon2", .leakResponseSecret, .high, .firm,
        .answer(
            #"{"p":"$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$RdescudvJCsgt3ub+b4dWRWJTmaaJObG"}"#)
    ),
    .hit("chosen", .leakResponseSecret, .high, .firm, .answer(#"{"password":"tr0ub4dor&3x"}"#)),
    .hit("perhaps", .leakResponseSecret, .medium, .tentative, .answer(#"{"password":"hunter"}"#)),
    .silent("switch", .leakResponseSecret, .answer(#"{"password":true,"hasPassword":false}"#)),
    .silent("text", .leakResponseSecret, .answer(#"{"password":"Enter your password, please"}"#)),
    .silent(
        "texts of an interface", .leakResponseSecret,
        .answer(#"{"password":"Password","login":{"password":"required|min:8"}}"#)),
    .silent("hint", .leakResponseSecret, .answer(#"{"password_hint":"tr0ub4dor&3x"}"#)),
    .silent("money", .leakResponseSecret, .answer(#"{"price":"$1$2$3"}"#)),
    .silent(
        "in a request", .leakResponseSecret,
        .post(#"{"password":"tr0ub4dor&3x"}"#, "", over: .https)),
]

private let form = "application/x-www-form-urlencoded"
private let clientSecretRows: [RuleRow] = [
    .hit(
        "password grant", .clientSecret, .medium, .firm,
        .post("grant_type=password&client_secret=Zk3vQ9xW", form, over: .https)),
    .hit(
        "machine", .clientSecret, .low, .firm,
        .post("grant_type=client_credentials&client_secret=Zk3vQ9xW", form, over: .https)),
    .silent(
        "PKCE", .clientSecret,
        .post("grant_type=authorization_code&code_verifier=Zk3vQ9xW", form, over: .https)),
    .silent(
        "no grant", .clientSecret, .post("client_secret=Zk3vQ9xW", form, over: .https)),
    .silent(
        "placeholder", .clientSecret,
        .post("grant_type=password&client_secret=null", form, over: .https)),
]

/// What is named like a secret and is none.
private let publicRows: [RuleRow] = [
    .silent(
        "Mixpanel's project token", .urlToken,
        .get("/track?token=0f1e2d3c4b5a69788796a5b4c3d2e1f0", over: .https).at("api.mixpanel.com")),
    .silent(
        "Mixpanel's in cleartext", .urlToken,
        .get("/track?token=0f1e2d3c4b5a69788796a5b4c3d2e1f0").at("api.mixpanel.com")),
    .silent(
        "session of a tracker", .urlToken,
        .get("/p?sid=Zk3vQ9xW2pLr7Ty1", over: .https).at("x.doubleclick.net")),
    .hit(
        "the same elsewhere", .urlToken, .medium, .firm,
        .get("/p?sid=Zk3vQ9xW2pLr7Ty1", over: .https)),
    .hit(
        "Firebase's web key", .urlToken, .info, .firm,
        .get("/v1?key=\(google)", over: .https).at("firebase.googleapis.com")),
    .hit(
        "publishable header", .plainHTTPAPIKey, .info, .firm,
        Sample(host: "x.algolia.net", headers: ["X-Algolia-API-Key: 0f1e2d3c4b5a69788796"])),
    .silent(
        "balancer's cookie seen over TLS", .plainHTTPCookie,
        Sample(scheme: .https, headers: ["Cookie: AWSALB=Zk3vQ9xW2pLr7Ty1"]),
        .clear("Cookie: AWSALB=Zk3vQ9xW2pLr7Ty1")),
    .silent(
        "tracker's cookie seen over TLS", .plainHTTPCookie,
        Sample(scheme: .https, headers: ["Cookie: uuid2=Zk3vQ9xW2pLr7Ty1"]),
        .clear("Cookie: uuid2=Zk3vQ9xW2pLr7Ty1")),
    .hit(
        "nobody said that it is a secret", .plainHTTPCookie, .medium, .tentative,
        Sample(scheme: .https, headers: ["Cookie: app=Zk3vQ9xW2pLr7Ty1"]),
        .clear("Cookie: app=Zk3vQ9xW2pLr7Ty1")),
    .hit(
        "session's seen over TLS", .plainHTTPCookie, .high, .certain,
        Sample(scheme: .https, headers: ["Cookie: sid=Zk3vQ9xW2pLr7Ty1"]),
        .clear("Cookie: sid=Zk3vQ9xW2pLr7Ty1")),
    .silent(
        "too little to be a secret", .plainHTTPCookie,
        Sample(scheme: .https, headers: ["Cookie: sid=12345678"]), .clear("Cookie: sid=12345678")),
]
