import Base
import Testing
import Traffic

@testable import Findings

/// What only the run as a whole shows.
@Suite struct RunRuleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let rule: RuleID
        let traffic: [Sample]
        var firstParties: [String] = []
        /// The parties with the severities that they are told with.
        let found: [String]
        var testDescription: String { "\(rule.rawValue): \(name)" }
    }

    static let rows: [RunRuleTests.Row] = [
        reuseRows, redirectRows, redirectSpellings, redirectOrders, thirdPartyRows, thiefRows,
        persistentRows, trackRows, fingerprintRows, cachedRows,
    ].flatMap(\.self)

    @Test(arguments: rows)
    func judges(_ row: Row) {
        let findings = FindingsLaboratory.run(row.traffic, firstParties: row.firstParties).findings
        let found = findings.filter { $0.rule == row.rule }.map {
            "\($0.party.text) \($0.severity.rawValue) \($0.confidence.rawValue)"
        }
        #expect(found.sorted() == row.found.sorted())
    }

    /// A report may be asked for while the run goes on.
    @Test func reportsAgain() {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        var counts: [Int] = []
        for (index, host) in ["a.one.test", "b.two.test", "c.three.test"].enumerated() {
            Sample.login("tr0ub4dor&3", at: host).feed(&engine, id: Int64(index + 1))
            for _ in 0..<2 {
                counts.append(engine.report().findings.count { $0.rule == .reuseCredential })
            }
        }
        #expect(counts == [0, 0, 2, 2, 3, 3])
    }

    /// The same places, whichever came first.
    @Test func keepsFingerprints() {
        let traffic = ["a.one.test", "b.two.test"].map { Sample.login("tr0ub4dor&3", at: $0) }
        let prints = [traffic, traffic.reversed()].map { traffic in
            Set(
                FindingsLaboratory.run(traffic).findings.filter { $0.rule == .reuseCredential }
                    .map(\.fingerprint))
        }
        #expect(prints[0] == prints[1] && prints[0].count == 2)
    }

    @Test func boundsMemory() {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        for number in 0..<9000 {
            Sample.login("a-password-\(number)", at: "one.test").feed(
                &engine, id: Int64(number + 1))
        }
        Sample.login("a-password-8999", at: "two.test").feed(&engine, id: 9001)
        Sample.login("a-password-0", at: "two.test").feed(&engine, id: 9002)
        let found = engine.report().findings.filter { $0.rule == .reuseCredential }
        #expect(found.map(\.exchanges) == [[9000], [9001]])
        #expect(engine.report().coverage.forgottenValues == 809)
    }

    /// The service with most logins, else with most exchanges.
    @Test(arguments: [
        ([Sample.login("tr0ub4dor&3", at: "a.one.test")], [String](), ["one.test"], true),
        (
            [.login("tr0ub4dor&3", at: "a.one.test")]
                + [Sample](repeating: Sample(scheme: .https, host: "b.two.test"), count: 3),
            [], ["one.test"], true
        ),
        (
            [Sample(host: "a.one.test"), Sample(host: "b.two.test"), Sample(host: "c.two.test")],
            [], ["two.test"], true
        ),
        ([Sample(host: "b.two.test"), Sample(host: "a.one.test")], [], ["one.test"], true),
        ([Sample(host: "a.one.test")], ["api.two.test"], ["two.test"], false),
    ])
    func knowsFirstParties(
        _ traffic: [Sample], _ declared: [String], _ names: [String], _ isGuessed: Bool
    ) {
        let parties = FindingsLaboratory.run(traffic, firstParties: declared).firstParties
        #expect(parties.names == names)
        #expect(parties.isGuessed == isGuessed)
    }
}

private let reuseRows: [RunRuleTests.Row] = [
    .init(
        name: "two services", rule: .reuseCredential,
        traffic: [
            .login("tr0ub4dor&3", at: "shop.one.test"), .login("tr0ub4dor&3", at: "two.test"),
        ],
        found: ["one.test high certain", "two.test high certain"]),
    .init(
        name: "in a form and in Basic", rule: .reuseCredential,
        traffic: [
            .login("tr0ub4dor&3", at: "one.test"),
            Sample(
                scheme: .https, host: "two.test",
                headers: ["Authorization: Basic \(base64("u:tr0ub4dor&3"))"]),
        ], found: ["one.test high certain", "two.test high certain"]),
    .init(
        name: "hosts of one service", rule: .reuseCredential,
        traffic: [
            .login("tr0ub4dor&3", at: "a.one.test"), .login("tr0ub4dor&3", at: "b.one.test"),
        ],
        found: []),
    .init(
        name: "declared as one party", rule: .reuseCredential,
        traffic: [.login("tr0ub4dor&3", at: "one.test"), .login("tr0ub4dor&3", at: "two.test")],
        firstParties: ["one.test", "login.two.test"], found: []),
    .init(
        name: "other passwords", rule: .reuseCredential,
        traffic: [.login("tr0ub4dor&3", at: "one.test"), .login("tr0ub4dor&4", at: "two.test")],
        found: []),
    .init(
        name: "placeholder", rule: .reuseCredential,
        traffic: [.login("********", at: "one.test"), .login("********", at: "two.test")],
        found: []),
    .init(
        name: "too short to tell", rule: .reuseCredential,
        traffic: [.login("12345", at: "one.test"), .login("12345", at: "two.test")], found: []),
    .init(
        name: "a token", rule: .reuseCredential,
        traffic: ["one.test", "two.test"].map {
            Sample(
                scheme: .https, host: $0, headers: ["Authorization: Bearer Zk3vQ9xW2pLr7Ty1aB4d"])
        }, found: []),
    .init(
        name: "names that sound alike", rule: .reuseCredential,
        traffic: ["one.test", "two.test"].map {
            .post(
                #"{"password_hint":"tr0ub4dor","passengers":"seventeen"}"#, "", over: .https, to: $0
            )
        }, found: []),
]

private let token = "Zk3vQ9xW2pLr7Ty1aB4d"

/// One place, and how a redirect from https://api.one.test/a can spell it.
private let redirectSpellings: [RunRuleTests.Row] = [
    ("//cdn.two.test/x", "/x"), ("https://cdn.two.test?q=1", "/?q=1"),
    ("HTTPS://cdn.two.test", "/"),
    ("https://cdn.two.test/a/../x", "/x"), ("https:/\\cdn.two.test/x", "/x"),
    ("\\\\cdn.two.test\\x", "/x"), ("///cdn.two.test/x", "/x"), ("https:cdn.two.test/x", "/x"),
    ("https://cdn.two.test/%C3%A4|", "/%C3%A4%7C"), ("https://cdn.two.test/x#part", "/x"),
    ("https://u@cdn.two.test:443/x y", "/x%20y"), ("https://cdn.two.test/./a/%2e%2e/x/..", "/"),
    ("https://cdn%2Etwo.test/x", "/x"),
].map { (location: String, target: String) in
    .init(
        name: "spelled \(location)", rule: .leakRedirect,
        traffic: [
            bearer("https://api.one.test/a", status: 302, leadsTo: location),
            bearer("https://cdn.two.test" + target),
        ], found: ["two.test high certain"])
}

private let redirectOrders: [RunRuleTests.Row] = [
    .init(
        name: "half a minute after a response that took long", rule: .leakRedirect,
        traffic: [
            slow(bearer("https://api.one.test/a", status: 302, leadsTo: "https://cdn.two.test/b"))
        ] + [Sample](repeating: Sample(scheme: .https), count: 31) + [
            bearer("https://cdn.two.test/b")
        ], found: ["two.test high certain"]),
    .init(
        name: "two redirects to one place", rule: .leakRedirect,
        traffic: [
            bearer(
                "https://api.one.test/a", "Another-9xW2pLr7Ty1aB4dQ", status: 302,
                leadsTo: "https://cdn.two.test/b"),
            bearer("https://api.one.test/b", status: 302, leadsTo: "https://cdn.two.test/b"),
            bearer("https://cdn.two.test/b"),
        ], found: ["two.test high certain"]),
    .init(
        name: "paths that begin with a slash alone", rule: .leakRedirect,
        traffic: [
            bearer("https://api.one.test/a", status: 302, leadsTo: "/\u{09}cdn.two.test/b"),
            bearer("https://cdn.two.test/b"),
        ], found: []),
]

private func slow(_ sample: Sample) -> Sample {
    var sample = sample
    sample.milliseconds = 30_900
    return sample
}

private func bearer(
    _ url: String, _ value: String = token, status: Int = 200, leadsTo: String? = nil
) -> Sample {
    let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    return Sample(
        scheme: parts[0] == "https:" ? .https : .http, host: String(parts[2]),
        target: "/" + parts[3], headers: ["Authorization: Bearer \(value)"], status: status,
        responseHeaders: leadsTo.map { ["Location: \($0)"] } ?? [])
}

private let redirectRows: [RunRuleTests.Row] = [
    .init(
        name: "to another service", rule: .leakRedirect,
        traffic: [
            bearer("https://api.one.test/a", status: 302, leadsTo: "https://cdn.two.test/b?c=1"),
            bearer("https://cdn.two.test/b?c=1"),
        ], found: ["two.test high certain"]),
    .init(
        name: "to cleartext", rule: .leakRedirect,
        traffic: [
            bearer("https://api.one.test/a", status: 307, leadsTo: "http://api.one.test/a"),
            bearer("http://api.one.test/a"),
        ], found: ["one.test critical certain"]),
    .init(
        name: "to another host of the service", rule: .leakRedirect,
        traffic: [
            bearer("https://api.one.test/a", status: 301, leadsTo: "https://b.one.test"),
            bearer("https://b.one.test/"),
        ], found: ["one.test medium certain"]),
    .init(
        name: "between first parties", rule: .leakRedirect,
        traffic: [
            bearer("https://api.one.test/a", status: 302, leadsTo: "https://cdn.two.test/b"),
            bearer("https://cdn.two.test/b"),
        ], firstParties: ["one.test", "two.test"], found: ["two.test low certain"]),
    .init(
        name: "another credential", rule: .leakRedirect,
        traffic: [
            bearer("https://api.one.test/a", status: 302, leadsTo: "https://cdn.two.test/b"),
            bearer("https://cdn.two.test/b", "Another-9xW2pLr7Ty1aB4dQ"),
        ], found: []),
    .init(
        name: "to another place than the redirect's", rule: .leakRedirect,
        traffic: [
            bearer("https://api.one.test/a", status: 302, leadsTo: "https://cdn.two.test/b"),
            bearer("https://cdn.two.test/other"),
        ], found: []),
    .init(
        name: "after half a minute", rule: .leakRedirect,
        traffic: [
            bearer("https://api.one.test/a", status: 302, leadsTo: "https://cdn.two.test/b")
        ] + [Sample](repeating: Sample(scheme: .https), count: 31) + [
            bearer("https://cdn.two.test/b")
        ], found: []),
    .init(
        name: "from cleartext to TLS", rule: .leakRedirect,
        traffic: [
            bearer("http://api.one.test/a", status: 301, leadsTo: "https://api.one.test/a"),
            bearer("https://api.one.test/a"),
        ], found: []),
    .init(
        name: "within the origin", rule: .leakRedirect,
        traffic: [
            bearer("https://api.one.test/a", status: 302, leadsTo: "/b"),
            bearer("https://api.one.test/b"),
        ], found: []),
]

/// Who got a token cannot make itself its issuer, nor have it forgotten.
private let thiefRows: [RunRuleTests.Row] = [
    .init(
        name: "answered with the token itself", rule: .leakThirdParty,
        traffic: [bearer("https://api.one.test/a"), stolen(#"{"access_token":"\#(token)"}"#)],
        firstParties: ["one.test"], found: ["two.test high certain"]),
    .init(
        name: "and an answer with it later", rule: .leakThirdParty,
        traffic: [
            bearer("https://api.one.test/a"), stolen("{}"),
            .answer(#"{"access_token":"\#(token)"}"#).at("stats.two.test"),
        ], firstParties: ["one.test"], found: ["two.test high certain"]),
    .init(
        name: "before and behind many tokens in responses", rule: .leakThirdParty,
        traffic: [bearer("https://api.one.test/a"), stolen("{}")] + manyTokens + [
            .post(#"{"ctx":"\#(token)"}"#, "", over: .https, to: "x.three.test")
        ], firstParties: ["one.test"],
        found: ["three.test high certain", "two.test high certain"]),
]

private func stolen(_ answer: String) -> Sample {
    var sample = Sample.post(#"{"ctx":"\#(token)"}"#, "", over: .https, to: "stats.two.test")
    sample.responseHeaders = ["Content-Type: application/json"]
    sample.responseBody = Array(answer.utf8)
    return sample
}

private let manyTokens = (0..<3 as Range<UInt64>).map { number -> Sample in
    let all = (0..<4000 as Range<UInt64>).map { index in
        let bytes = FindingsLaboratory.digest([], size: 18, salt: number << 32 | index)
        return #"{"token":"\#(base64Bytes(bytes))"}"#
    }
    return .answer("[" + all.joined(separator: ",") + "]").at("stats.two.test")
}

private let thirdPartyRows: [RunRuleTests.Row] = [
    .init(
        name: "session's token in analytics", rule: .leakThirdParty,
        traffic: [
            bearer("https://api.one.test/a"),
            .post("{\"event\":{\"ctx\":\"\(token)\"}}", "", over: .https, to: "stats.two.test"),
        ], firstParties: ["one.test"], found: ["two.test high certain"]),
    .init(
        name: "at a known tracker", rule: .leakThirdParty,
        traffic: [
            bearer("https://api.one.test/a"),
            .get("/t?x=\(token)", over: .https).at("api.mixpanel.com"),
        ], firstParties: ["one.test"], found: ["mixpanel.com critical certain"]),
    .init(
        name: "with guessed first parties", rule: .leakThirdParty,
        traffic: [
            bearer("https://api.one.test/a"), bearer("https://api.one.test/b"),
            .post("{\"ctx\":\"\(token)\"}", "", over: .https, to: "stats.two.test"),
        ], found: ["two.test medium certain"]),
    .init(
        name: "password in another field", rule: .leakThirdParty,
        traffic: [
            .login("tr0ub4dor&3", at: "one.test"),
            .post("{\"q\":\"tr0ub4dor&3\"}", "", over: .https, to: "stats.two.test"),
        ], firstParties: ["one.test"], found: ["two.test high certain"]),
    .init(
        name: "inside of Base64", rule: .leakThirdParty,
        traffic: [
            bearer("https://api.one.test/a"),
            .get("/t?d=" + base64("{\"t\":\"\(token)\"}"), over: .https).at("stats.two.test"),
        ], firstParties: ["one.test"], found: ["two.test high certain"]),
    .init(
        name: "issued by the other service", rule: .leakThirdParty,
        traffic: [
            Sample(
                scheme: .https, host: "login.two.test", method: "POST",
                responseHeaders: ["Content-Type: application/json"],
                responseBody: Array("{\"access_token\":\"\(token)\"}".utf8)),
            bearer("https://api.one.test/a"), bearer("https://login.two.test/me"),
        ], firstParties: ["one.test"], found: []),
    .init(
        name: "only among first parties", rule: .leakThirdParty,
        traffic: [bearer("https://api.one.test/a"), bearer("https://api.two.test/a")],
        firstParties: ["one.test", "two.test"], found: []),
    .init(
        name: "only among others", rule: .leakThirdParty,
        traffic: [
            bearer("https://a.two.test/a"), bearer("https://a.three.test/a"),
            Sample(scheme: .https, host: "one.test"),
        ], firstParties: ["one.test"], found: []),
    .init(
        name: "a number that is also a password", rule: .leakThirdParty,
        traffic: [
            .login("20260309", at: "one.test"),
            .post("{\"day\":\"20260309\"}", "", over: .https, to: "stats.two.test"),
        ], firstParties: ["one.test"], found: []),
]

private let visitor = "8f14e45f-ceea-467f-a0e6-5b2c1d9e3f70"

private let persistentRows: [RunRuleTests.Row] = [
    .init(
        name: "visitor at a tracker", rule: .persistentID,
        traffic: [
            .get("/?visitor_id=\(visitor)", over: .https).at("app.one.test"),
            .get("/?vid=1&visitorId=\(visitor)", over: .https).at("t.criteo.com"),
        ], firstParties: ["one.test"], found: ["criteo.com high firm"]),
    .init(
        name: "another name", rule: .persistentID,
        traffic: [
            .get("/?cid=\(visitor)", over: .https).at("app.one.test"),
            .post("{\"x\":\"\(visitor)\"}", "", over: .https, to: "ads.two.test"),
        ], firstParties: ["one.test"], found: ["two.test medium tentative"]),
    .init(
        name: "with guessed first parties", rule: .persistentID,
        traffic: [
            .login("tr0ub4dor&3", at: "one.test"),
            .get("/?user_id=\(visitor)", over: .https).at("app.one.test"),
            .get("/?user_id=\(visitor)", over: .https).at("t.criteo.com"),
        ], found: ["criteo.com medium firm"]),
    .init(
        name: "one service", rule: .persistentID,
        traffic: [
            .get("/?user_id=\(visitor)", over: .https).at("a.two.test"),
            .get("/?user_id=\(visitor)", over: .https).at("b.two.test"),
        ], firstParties: ["one.test"], found: []),
    .init(
        name: "trace", rule: .persistentID,
        traffic: ["one.test", "two.test"].map {
            Sample(
                scheme: .https, host: $0,
                headers: ["traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"])
        }, firstParties: ["one.test"], found: []),
    .init(
        name: "number of a request", rule: .persistentID,
        traffic: ["one.test", "two.test"].map {
            Sample(scheme: .https, host: $0, headers: ["X-Request-Id: \(visitor)"])
        }, firstParties: ["one.test"], found: []),
    .init(
        name: "version of a file", rule: .persistentID,
        traffic: ["one.test", "two.test"].map {
            .get("/?hash=0f1e2d3c4b5a69788796a5b4c3d2e1f0", over: .https).at($0)
        }, firstParties: ["one.test"], found: []),
    .init(
        name: "at more than five services", rule: .persistentID,
        traffic: (1...7).map {
            .get("/?user_id=\(visitor)", over: .https).at("s\($0).test")
        }, firstParties: ["one.test"], found: []),
]

private let trackRows: [RunRuleTests.Row] = [
    .init(
        name: "known", rule: .trackHost,
        traffic: [.get("/", over: .https).at("x.app-measurement.com")],
        found: ["app-measurement.com info certain"]),
    .init(
        name: "with an identifier", rule: .trackHost,
        traffic: [
            .post(
                "{\"idfa\":\"6d92078a-8246-4ba4-ae5b-76104861e7dc\"}", "", over: .https,
                to: "x.app-measurement.com")
        ],
        found: ["app-measurement.com medium certain"]),
    .init(
        name: "part of a name", rule: .trackHost,
        traffic: [.get("/", over: .https).at("notapp-measurement.com")], found: []),
    .init(
        name: "lasting cookie", rule: .trackCookie,
        traffic: [
            Sample(
                scheme: .https, host: "ads.net",
                responseHeaders: ["Set-Cookie: u=Zk3vQ9xW2pLr7Ty1; Max-Age=31536000"])
        ], firstParties: ["one.test"], found: ["ads.net medium firm"]),
    .init(
        name: "cookie of a session", rule: .trackCookie,
        traffic: [
            Sample(
                scheme: .https, host: "ads.net",
                responseHeaders: ["Set-Cookie: u=Zk3vQ9xW2pLr7Ty1; Path=/"])
        ], firstParties: ["one.test"], found: []),
    .init(
        name: "cookie of an hour", rule: .trackCookie,
        traffic: [
            Sample(
                scheme: .https, host: "ads.net",
                responseHeaders: ["Set-Cookie: u=Zk3vQ9xW2pLr7Ty1; Max-Age=3600"])
        ], firstParties: ["one.test"], found: []),
    .init(
        name: "setting", rule: .trackCookie,
        traffic: [
            Sample(
                scheme: .https, host: "ads.net",
                responseHeaders: ["Set-Cookie: seen=yes; Max-Age=31536000"])
        ], firstParties: ["one.test"], found: []),
    .init(
        name: "first party's", rule: .trackCookie,
        traffic: [
            Sample(
                scheme: .https, host: "www.one.test",
                responseHeaders: ["Set-Cookie: u=Zk3vQ9xW2pLr7Ty1; Max-Age=31536000"])
        ], firstParties: ["one.test"], found: []),
]

private let fingerprintRows: [RunRuleTests.Row] = [
    .init(
        name: "five attributes to a third party", rule: .fingerprintScore,
        traffic: [
            .post(
                #"{"model":"iPhone15,2","boot_time":1700000000,"free_disk":123,"carrier":"x","tz":1}"#,
                "", over: .https, to: "ads.net")
        ], firstParties: ["one.test"], found: ["ads.net high tentative"]),
    .init(
        name: "gathered from several requests", rule: .fingerprintScore,
        traffic: ["tz=60", "sr=390x844", "osVersion=17.1"].map {
            .get("/?\($0)", over: .https).at("ads.net")
        }, firstParties: ["one.test"], found: ["ads.net medium tentative"]),
    .init(
        name: "first party", rule: .fingerprintScore,
        traffic: [
            .get("/?tz=60&sr=390x844&osVersion=17.1", over: .https).at("one.test")
        ], firstParties: ["one.test"], found: ["one.test info tentative"]),
    .init(
        name: "what every request has", rule: .fingerprintScore,
        traffic: [
            Sample(
                scheme: .https, host: "ads.net",
                headers: ["User-Agent: x/1", "Accept-Language: de-DE", "Sec-CH-UA-Platform: Linux"])
        ], firstParties: ["one.test"], found: []),
]

private func advertising(_ value: String, _ name: String = "idfa") -> Sample {
    .post("{\"\(name)\":\"\(value)\"}", "application/json", over: .https, to: "api.one.test")
}

private let firstID = "6D92078A-8246-4BA4-AE5B-76104861E7DC"
private let otherID = "0A1B2C3D-8246-4BA4-AE5B-76104861E7DC"
private let noID = "00000000-0000-0000-0000-000000000000"

private let cachedRows: [RunRuleTests.Row] = [
    .init(
        name: "the old one after none", rule: .cachedIdentifier,
        traffic: [advertising(firstID), advertising(noID), advertising(firstID.lowercased())],
        firstParties: ["one.test"], found: ["one.test high firm"]),
    .init(
        name: "none since", rule: .cachedIdentifier,
        traffic: [advertising(firstID), advertising(noID), advertising(noID)], found: []),
    .init(
        name: "a new one after none", rule: .cachedIdentifier,
        traffic: [advertising(firstID), advertising(noID), advertising(otherID)], found: []),
    .init(
        name: "none before", rule: .cachedIdentifier,
        traffic: [advertising(noID), advertising(firstID), advertising(firstID)], found: []),
    .init(
        name: "none in a field of another library", rule: .cachedIdentifier,
        traffic: [advertising(firstID), advertising(noID, "gaid"), advertising(firstID)], found: []),
]
