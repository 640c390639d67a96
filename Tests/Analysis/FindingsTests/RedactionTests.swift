import Base
import Testing
import Traffic

@testable import Findings

/// Plants a secret for every rule and looks for it in all that a finding can say.
@Suite struct RedactionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let rule: RuleID
        let secret: String
        let traffic: Sample
        var testDescription: String { rule.rawValue }
    }

    @Test(arguments: rows)
    func showsNothing(_ row: Row) throws {
        let profile = try SubjectProfile.parse(
            "password.main = \(Self.planted)\nname.own = n0ra-Quist-7")
        var traffic = row.traffic
        // The secret stands in the path and in a name as well.
        let encoded = PercentText.encode(row.secret)
        let separator = traffic.target.contains("?") ? "&" : "?"
        let parts = traffic.target.split(separator: "?", maxSplits: 1)
        let path = parts.first.map(String.init) ?? ""
        let query = parts.count > 1 ? "?" + parts[1] : ""
        traffic.target = "\(path)/\(encoded)/x\(encoded)y\(query)\(separator)\(encoded)=1"
        traffic.headers.append("X-\(encoded)-API-Key: abcdefgh12345678")
        var elsewhere = traffic
        elsewhere.host = "api.elsewhere.test"
        let report = FindingsLaboratory.run([traffic, elsewhere], profile: profile)
        #expect(report.findings.contains { $0.rule == row.rule })
        ReportTexts.expect(noneOf: [row.secret], in: report)
    }

    /// What was said in clear by the names that fields have, in every form.
    @Test(arguments: CorpusHits.rows.map(\.name).indices.filter { $0.isMultiple(of: 7) })
    func showsNothingOfCorpus(_ index: Int) {
        ReportTexts.expect(
            noneOf: [CorpusHits.secret, CorpusHits.opaque], in: CorpusHits.rows[index].report)
    }

    @Test func coversEveryRuleAboutSecrets() {
        let without: Set<RuleID> = [
            .clearHTTP, .tlsClientVersion, .tlsClientCipher, .tlsOriginCertificate,
            .tlsClientServerName, .tlsClientSignatures, .tlsClientExtensions, .crossOrigin,
            .tlsClientPinned, .transportSecurity, .httpFirst, .economyDuplicate, .economyResume,
            .economyCompression, .economyPolling, .economyCaching, .economyImage, .economyBudget,
            .streamRandom, .streamReuse,
            // In UnknownStreamTests.
            .streamPlaintext,
            .tlsClientRetry, .plainHTTPLoginPage, .upgradeUnused, .upgradeInjection,
            .tlsOriginParameters, .localDestination, .localGroup, .unsafeProtocol,
            // In RunRuleTests.
            .cachedIdentifier, .leakRedirect, .trackHost, .fingerprintScore, .privacyDeclaration,
            // In DialogueRuleTests.
            .plainLogin, .hashLogin,
            // In LocalNetworkRuleTests.
            .bonjour, .ssdp, .localLeak, .namesInClear,
        ]
        #expect(Set(Self.rows.map(\.rule)).union(without) == Set(RuleID.allCases))
    }

    @Test(arguments: [
        ("email", "email"), ("X-API-Key", "X-API-Key"), ("a b<c", "a?b?c"),
        ("nora@shop.example", "{key}"), ("k4x9q2m7w1z5", "{key}"), ("tel441632960999", "{key}"),
        ("\u{1B}[31m", "?[31m"), ("user[address][street]", "user[address][street]"),
    ])
    func makesNamesSafe(_ raw: String, _ expected: String) {
        #expect(SafeName(Array(raw.utf8), redaction: Self.redaction).text == expected)
    }

    @Test func boundsNames() {
        let long = [UInt8](repeating: 0x61, count: 100_000)
        #expect(SafeName(long, redaction: Self.redaction).text == "{key}")
        let pointer = [[UInt8]](repeating: Array("abc/d".utf8), count: 60)
        let text = SafeName(pointer: pointer, redaction: Self.redaction).text
        #expect(text.utf8.count <= 64 && text.hasPrefix("/abc~1d/"))
    }

    @Test(arguments: [
        ("/", "/"), ("", "/"), ("/v1/users/17", "/v1/users/{id}"), ("/a/", "/a/"),
        ("/o/123e4567-e89b-12d3-a456-426614174000", "/o/{uuid}"),
        ("/o/0f1e2d3c4b5a6978", "/o/{hex}"), ("/t/Zk3vQ9xW2pLr7Ty1aaB", "/t/{b64}"),
        ("/u/nora%40shop.example", "/u/{email}"), ("/a%20b/c", "/{text}/c"),
        ("/order-1234567", "/{id}"), ("/a;sid=1/b", "/a/b"), ("//a//b", "/a/b"),
        ("/a/b/c/d/e/f/g/h/i/j", "/a/b/c/d/e/f/g/h/.."), ("/report.pdf", "/report.pdf"),
    ])
    func makesTemplates(_ path: String, _ expected: String) {
        let template = URLTemplate(
            scheme: .http, host: Array("a.example".utf8), port: 80, path: Array(path.utf8),
            redaction: Self.redaction)
        #expect(template.path == expected)
        #expect(template.text == "http://a.example" + expected)
    }

    private static let redaction = EvidenceRedaction(
        digests: FindingsLaboratory.digests, runKey: [1], planted: nil)
    private static let planted = "Pr0be-S3cret!x"
    private static let opaque = "Zk3vQ9xW2pLr7Ty1"

    private static let rows: [Row] = [
        Row(rule: .plantSecret, secret: planted, traffic: .post("{\"q\":\"\(planted)\"}", "")),
        Row(
            rule: .plainHTTPBasic, secret: "tr0ub4dor&3x",
            traffic: .clear("Authorization: Basic \(base64("nora:tr0ub4dor&3x"))")),
        Row(
            rule: .plainHTTPProxy, secret: "tr0ub4dor&3x",
            traffic: .clear("Proxy-Authorization: Basic \(base64("nora:tr0ub4dor&3x"))")),
        Row(
            rule: .plainHTTPForm, secret: "tr0ub4dor-3x",
            traffic: .post(#"{"password":"tr0ub4dor-3x","tr0ub4dor-3x":{"pwd":"a"}}"#, "")),
        Row(
            rule: .urlPassword, secret: "tr0ub4dor-3x", traffic: .get("/a?password=tr0ub4dor-3x")),
        Row(
            rule: .plainHTTPBearer, secret: opaque,
            traffic: .clear("Authorization: Bearer \(opaque)")),
        Row(rule: .plainHTTPAPIKey, secret: opaque, traffic: .clear("X-API-Key: \(opaque)")),
        Row(
            rule: .plainHTTPAuthorization, secret: opaque,
            traffic: .clear("Authorization: \(opaque)")),
        Row(rule: .plainHTTPCookie, secret: opaque, traffic: .clear("Cookie: sid=\(opaque)")),
        Row(
            rule: .hashHTTPDigest, secret: "0f1e2d3c4b5a6978",
            traffic: .clear("Authorization: Digest response=\"0f1e2d3c4b5a6978\"")),
        Row(
            rule: .hashHTTPNTLM, secret: "AAAAAAAABBBBBBBBCCCC",
            traffic: .clear(
                "Authorization: NTLM "
                    + base64Bytes(
                        Array("NTLMSSP\0".utf8) + [3, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0]
                            + [20, 0, 20, 0, 64, 0, 0, 0] + [UInt8](repeating: 0, count: 36)
                            + Array("AAAAAAAABBBBBBBBCCCC".utf8)))),
        Row(
            rule: .hashHTTPSignature, secret: opaque,
            traffic: .clear("Authorization: Hawk id=\"a\", mac=\"\(opaque)\"")),
        Row(
            rule: .leakReferer, secret: opaque,
            traffic: Sample(
                scheme: .https, headers: ["Referer: https://a.one.test/?token=\(opaque)"])),
        Row(
            rule: .providerKey, secret: "ghp_" + "A1b9Zx3vQ9xW2pLr7Ty1Km4nB6vC8xZ0aSdF",
            traffic: Sample(
                scheme: .https,
                headers: ["X-Key: ghp_" + "A1b9Zx3vQ9xW2pLr7Ty1Km4nB6vC8xZ0aSdF"])),
        Row(
            rule: .weakToken, secret: "c2VjcmV0LXN1YmplY3Q",
            traffic: Sample(
                scheme: .https,
                headers: [
                    "Authorization: Bearer \(base64(#"{"alg":"HS256"}"#).filter { $0 != "=" })."
                        + "\(base64(#"{"sub":"c2VjcmV0LXN1YmplY3Q"}"#).filter { $0 != "=" })."
                        + "c2VjcmV0LXN1YmplY3Q"
                ])),
        Row(
            rule: .leakResponseSecret, secret: "tr0ub4dor-3x",
            traffic: Sample(
                responseHeaders: ["Content-Type: application/json"],
                responseBody: Array(#"{"password":"tr0ub4dor-3x"}"#.utf8))),
        Row(
            rule: .clientSecret, secret: opaque,
            traffic: .post("grant_type=password&client_secret=\(opaque)", "")),
        Row(
            rule: .leakThirdParty, secret: opaque,
            traffic: Sample(
                scheme: .https, host: "stats.two.test", headers: ["Authorization: Bearer \(opaque)"]
            )),
        Row(
            rule: .plantID, secret: "n0ra-Quist-7",
            traffic: .post("{\"q\":\"n0ra-Quist-7\"}", "")),
        Row(
            rule: .persistentID, secret: opaque,
            traffic: Sample(
                scheme: .https, host: "stats.two.test", headers: ["X-Visitor-Id: \(opaque)"])),
        Row(
            rule: .trackCookie, secret: opaque,
            traffic: Sample(
                scheme: .https, host: "stats.two.test",
                responseHeaders: ["Set-Cookie: \(opaque)=\(opaque); Max-Age=90000"])),
        Row(
            rule: .deviceUDID, secret: "00008030-001A2D3E4F50802E",
            traffic: .post(#"{"d":"00008030-001A2D3E4F50802E"}"#, "")),
        Row(
            rule: .advertisingID, secret: "6d92078a-8246-4ba4-ae5b-76104861e7dc",
            traffic: .post(#"{"idfa":"6d92078a-8246-4ba4-ae5b-76104861e7dc"}"#, "")),
        Row(
            rule: .vendorID, secret: "6d92078a-8246-4ba4-ae5b-76104861e7dc",
            traffic: .post(#"{"idfv":"6d92078a-8246-4ba4-ae5b-76104861e7dc"}"#, "")),
        Row(
            rule: .hardwareAddress, secret: "f0:18:98:0a:1b:2c",
            traffic: .post(#"{"mac":"f0:18:98:0a:1b:2c"}"#, "")),
        Row(
            rule: .deviceNumber, secret: "490154203237518",
            traffic: .post(#"{"imei":"490154203237518"}"#, "")),
        Row(
            rule: .personalEmail, secret: "nora.quist@corp.tld",
            traffic: .post(#"{"m":"nora.quist@corp.tld"}"#, "")),
        Row(
            rule: .personalLocation, secret: "37.774931",
            traffic: .post(#"{"lat":37.774931,"lon":-122.419415}"#, "")),
        Row(
            rule: .personalCard, secret: "4716186978544330",
            traffic: .post(#"{"card":"4716186978544330"}"#, "")),
        Row(
            rule: .personalOther, secret: "DE89370400440532013000",
            traffic: .post(#"{"a":"DE89370400440532013000"}"#, "")),
        Row(
            rule: .reuseCredential, secret: "tr0ub4dor-3x",
            traffic: .login("tr0ub4dor-3x", at: "api.example")),
        Row(
            rule: .urlToken, secret: opaque, traffic: .get("/a?sid=\(opaque)", over: .https)),
        Row(
            rule: .cookieAttributes, secret: opaque,
            traffic: Sample(scheme: .https, responseHeaders: ["Set-Cookie: sid=\(opaque)"])),
        Row(
            rule: .redirectDowngrade, secret: opaque,
            traffic: Sample(
                scheme: .https, status: 302,
                responseHeaders: [
                    "Location: http://\(opaque):\(opaque)@\(opaque).example/\(opaque)"
                ])),
        Row(
            rule: .cacheAuthenticated, secret: opaque,
            traffic: Sample(
                scheme: .https, headers: ["Authorization: Bearer \(opaque)"],
                responseHeaders: ["Content-Type: text/html", "Cache-Control: public"])),
    ]
}

enum PercentText {
    static func encode(_ text: String) -> String {
        text.utf8.map { byte in
            byte.isASCIILetter || byte.isASCIIDigit || byte == 0x2D
                ? String(UnicodeScalar(byte)) : "%" + [byte].hex.uppercased()
        }.joined()
    }
}
