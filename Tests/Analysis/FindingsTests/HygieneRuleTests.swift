import Base
import Testing
import Traffic

@testable import Findings

/// What origins' responses lack: never worse than medium but for a credential that is sent on.
@Suite struct HygieneRuleTests {
    static let rows = cookieRows + downgradeRows + crossOriginRows + cacheRows

    @Test(arguments: rows)
    func judges(_ row: RuleRow) {
        let found = FindingsLaboratory.run(row.traffic).findings.filter { $0.rule == row.rule }
        #expect(found.map(\.severity).first == row.severity)
        #expect(found.map(\.confidence).first == row.confidence)
        #expect(found.allSatisfy { $0.rule.text.party == .origin })
        #expect(found.allSatisfy { $0.severity <= $0.rule.text.worst ?? .info })
    }

    @Test func tellsOneCookieOnce() {
        let traffic = (0..<300).map { number in
            var sample = set("PHPSESSID=8tokb2m4n6v8c0x2; Path=/")
            sample.target = "/page/\(number)"
            sample.host = number.isMultiple(of: 2) ? "a.shop.example" : "b.shop.example"
            return sample
        }
        let found = FindingsLaboratory.run(traffic).findings.filter { $0.rule == .cookieAttributes }
        #expect(found.map(\.occurrences) == [300])
        #expect(
            found.flatMap(\.notes).map(\.text) == [
                "Secure is missing", "HttpOnly is missing", "SameSite is missing",
            ])
    }
}

private func set(_ cookie: String, over scheme: ExchangeRecord.Scheme = .https) -> Sample {
    Sample(scheme: scheme, responseHeaders: ["Set-Cookie: \(cookie)"])
}

private let cookieRows: [RuleRow] = [
    .hit(
        "a session without attributes", .cookieAttributes, .low, .certain,
        set("sid=8tokb2m4n6v8c0x2")),
    .hit(
        "a session without HttpOnly", .cookieAttributes, .low, .certain,
        set("connect.sid=8tokb2m4n6v8c0x2; Secure; SameSite=Lax")),
    .hit(
        "SameSite that does not exist", .cookieAttributes, .low, .certain,
        set("sid=8tokb2m4n6v8c0x2; Secure; HttpOnly; SameSite=Maybe")),
    .hit(
        "None without Secure", .cookieAttributes, .medium, .certain,
        set("lang=en; SameSite=None")),
    .hit(
        "__Host- with a domain", .cookieAttributes, .medium, .certain,
        set("__Host-id=en; Secure; Path=/; Domain=api.example")),
    .hit(
        "__Secure- without Secure", .cookieAttributes, .medium, .certain, set("__Secure-id=en")),
    .hit(
        "for all hosts of the parent", .cookieAttributes, .info, .certain,
        Sample(
            scheme: .https, host: "www.api.example",
            responseHeaders: [
                "Set-Cookie: sid=8tokb2m4n6v8; Secure; HttpOnly; SameSite=Lax; Domain=.api.example"
            ])),
    .silent(
        "a session with all", .cookieAttributes,
        set("__Host-sid=8tokb2m4n6v8c0x2; Secure; HttpOnly; SameSite=Strict; Path=/")),
    .silent("a preference", .cookieAttributes, set("lang=en")),
    .silent("of an analysis", .cookieAttributes, set("_ga=GA1.2.1234567890.1700000000")),
    .silent(
        "deleted by age", .cookieAttributes, set("sid=8tokb2m4n6v8c0x2; Max-Age=0")),
    .silent(
        "deleted by date", .cookieAttributes,
        set("sid=deleted00; Expires=Thu, 01-Jan-1970 00:00:00 GMT")),
    .silent("deleted by value", .cookieAttributes, set("sid=; Path=/")),
    .silent(
        "made by the tool", .cookieAttributes,
        Sample(
            scheme: .https, responseHeaders: ["Set-Cookie: sid=8tokb2m4n6v8c0x2"],
            answeredByTool: true)),
]

private func redirect(
    _ location: String, over scheme: ExchangeRecord.Scheme = .https, status: Int = 302
) -> Sample {
    Sample(scheme: scheme, status: status, responseHeaders: ["Location: \(location)"])
}

private let downgradeRows: [RuleRow] = [
    .hit(
        "redirect", .redirectDowngrade, .medium, .certain, redirect("http://cdn.example/f")),
    .hit(
        "redirect with a token", .redirectDowngrade, .high, .certain,
        redirect("HTTP://cdn.example/f?t=\(exampleToken)", status: 307)),
    .hit(
        "script", .redirectDowngrade, .medium, .certain,
        .page("<html><script src='http://cdn.example/a.js'></script>", over: .https)),
    .hit(
        "style", .redirectDowngrade, .medium, .certain,
        .page("<link rel=Stylesheet href=http://cdn.example/a.css>", over: .https)),
    .hit(
        "playlist", .redirectDowngrade, .medium, .certain,
        Sample(
            scheme: .https, responseHeaders: ["Content-Type: application/vnd.apple.mpegurl"],
            responseBody: Array("#EXTM3U\n#EXTINF:4,\nhttp://cdn.example/1.ts\n".utf8))),
    .hit(
        "key of a playlist", .redirectDowngrade, .medium, .certain,
        Sample(
            scheme: .https, responseHeaders: ["Content-Type: audio/mpegurl"],
            responseBody: Array(
                "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"http://k.example/k\"\n1.ts\n".utf8))),
    .silent("https", .redirectDowngrade, redirect("https://cdn.example/f")),
    .silent("relative", .redirectDowngrade, redirect("/f?next=http://cdn.example/")),
    .silent("from http", .redirectDowngrade, redirect("http://cdn.example/f", over: .http)),
    .silent("no redirect", .redirectDowngrade, redirect("http://cdn.example/f", status: 201)),
    .silent(
        "a program's own port", .redirectDowngrade,
        redirect("http://127.0.0.1:8912/callback?code=8tokb2m4n6v8c0x2")),
    .silent(
        "a link", .redirectDowngrade,
        .page(
            "<a href='http://other.example/'>x</a><link rel=canonical href='http://x.example/'>"
                + "<svg xmlns='http://www.w3.org/2000/svg'>", over: .https)),
    .silent(
        "in a comment", .redirectDowngrade,
        .page("<!-- <script src='http://cdn.example/a.js'></script> -->", over: .https)),
    .silent(
        "upgraded by the browser", .redirectDowngrade,
        Sample(
            scheme: .https,
            responseHeaders: [
                "Content-Type: text/html", "Content-Security-Policy: Upgrade-Insecure-Requests",
            ], responseBody: Array("<script src='http://cdn.example/a.js'></script>".utf8))),
]

private func shared(
    _ allowed: String, credentials: Bool = true, to origin: String?, host: String = "api.example",
    headers: [String] = []
) -> Sample {
    Sample(
        scheme: .https, host: host, headers: headers + (origin.map { ["Origin: \($0)"] } ?? []),
        responseHeaders: ["Access-Control-Allow-Origin: \(allowed)"]
            + (credentials ? ["Access-Control-Allow-Credentials: true"] : []))
}

private let crossOriginRows: [RuleRow] = [
    .hit(
        "a foreign origin", .crossOrigin, .low, .tentative,
        shared("https://evil.test", to: "https://evil.test")),
    .hit(
        "two foreign origins", .crossOrigin, .medium, .firm,
        shared("https://evil.test", to: "https://evil.test"),
        shared("https://other.invalid", to: "https://other.invalid")),
    .hit("null", .crossOrigin, .medium, .firm, shared("null", to: "null")),
    .hit("all with credentials", .crossOrigin, .low, .certain, shared("*", to: nil)),
    .hit(
        "all, and authenticated", .crossOrigin, .low, .firm,
        shared(
            "*", credentials: false, to: "https://evil.test",
            headers: ["Authorization: Bearer 8tokb2m4n6v8c0x2"])),
    .silent(
        "the same site", .crossOrigin,
        shared("https://www.shop.example", to: "https://www.shop.example", host: "api.shop.example")
    ),
    .silent(
        "one origin, twice", .crossOrigin,
        shared("https://a.test", credentials: false, to: "https://a.test")),
    .silent("a font", .crossOrigin, shared("*", credentials: false, to: "https://a.test")),
    .silent(
        "a constant origin", .crossOrigin, shared("https://app.test", to: "https://evil.test")),
    .silent("made by the tool", .crossOrigin, Sample(answeredByTool: true)),
]

private func cached(
    _ control: String?, type: String = "application/json", session: Bool = false,
    authorized: Bool = true, more: [String] = [], method: String = "GET", status: Int = 200
) -> Sample {
    Sample(
        scheme: .https, method: method,
        headers: (authorized ? ["Authorization: Bearer 8tokb2m4n6v8c0x2"] : [])
            + (session ? ["Cookie: sid=8tokb2m4n6v8c0x2"] : []),
        status: status,
        responseHeaders: ["Content-Type: \(type)"]
            + (control.map { ["Cache-Control: \($0)"] } ?? []) + more)
}

private let cacheRows: [RuleRow] = [
    .hit(
        "public", .cacheAuthenticated, .medium, .firm, cached("public, max-age=60")),
    .hit(
        "for shared caches", .cacheAuthenticated, .medium, .firm, cached("s-maxage=\"60\"")),
    .hit(
        "kept by the client", .cacheAuthenticated, .low, .firm, cached("max-age=60")),
    .hit(
        "a session's, kept by all", .cacheAuthenticated, .medium, .firm,
        cached("max-age=60", type: "text/html", session: true, authorized: false)),
    .hit(
        "a session's, kept by all who vary", .cacheAuthenticated, .low, .firm,
        cached(
            "max-age=60", type: "text/html", session: true, authorized: false,
            more: ["Vary: Accept, Cookie"])),
    .hit(
        "nothing told", .cacheAuthenticated, .low, .tentative,
        cached(
            nil, session: true, authorized: false,
            more: ["Last-Modified: Mon, 09 Mar 2026 07:05:01 GMT"])),
    .silent("no-store", .cacheAuthenticated, cached("no-store")),
    .silent("no-cache", .cacheAuthenticated, cached("public, no-cache")),
    .silent("private", .cacheAuthenticated, cached("max-age=60, private")),
    .silent(
        "asked each time", .cacheAuthenticated, cached("max-age=0, public, must-revalidate")),
    .silent("nothing told", .cacheAuthenticated, cached(nil)),
    .silent(
        "a script", .cacheAuthenticated,
        cached("public, max-age=60", type: "text/javascript", session: true, authorized: false)),
    .silent(
        "a picture", .cacheAuthenticated, cached("public, max-age=60", type: "image/png")),
    .silent(
        "nobody's", .cacheAuthenticated, cached("public, max-age=60", authorized: false)),
    .silent(
        "posted", .cacheAuthenticated, cached("public, max-age=60", method: "POST")),
    .silent(
        "an error", .cacheAuthenticated, cached("public, max-age=60", status: 500)),
]
