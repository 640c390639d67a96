import Base
import Testing
import Traffic

@testable import Findings

/// What a browser says on a page of a shop with analytics, fonts and advertisements: nothing of it
/// may fail a run, declared or guessed.
@Suite struct BrowsingTests {
    @Test(arguments: [[], ["shop-one.test"]])
    func staysCalm(_ firstParties: [String]) {
        let report = FindingsLaboratory.run(Self.traffic, firstParties: firstParties)
        let loud = report.findings.filter { $0.severity >= .high && $0.confidence >= .firm }
        #expect(loud.map { "\($0.rule.rawValue) \($0.urlTemplate.text)" } == [])
    }

    private static let opaque = "Zk3vQ9xW2pLr7Ty1aB4dZk3vQ9xW2pLr7Ty1aB4d"
    private static let webKey = "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"
    private static let referer = "Referer: https://www.shop-one.test/"

    private static func get(_ host: String, _ target: String, _ headers: String...) -> Sample {
        Sample(scheme: .https, host: host, target: target, headers: [referer] + headers)
    }

    private static func beacon(_ host: String, _ target: String, _ body: String) -> Sample {
        var sample = Sample.post(body, "text/plain", over: .https, to: host)
        sample.target = target
        sample.headers.append(referer)
        return sample
    }

    private static var traffic: [Sample] {
        let mixpanel = base64(
            #"{"event":"page","properties":{"token":"0f1e2d3c4b5a69788796a5b4c3d2e1f0","distinct_id":"17a3b4c5d6e7f8-0a1b2c3d4e5f6"}}"#
        )
        var page = get(
            "www.shop-one.test", "/",
            "Cookie: _ga=GA1.2.1234567890.1700000000; sid=\(opaque); AWSALB=\(opaque)x; lang=en")
        page.responseHeaders = [
            "Content-Type: text/html", "Set-Cookie: AWSALB=\(opaque)y; Max-Age=604800; Path=/",
        ]
        var old = page
        old.scheme = .http
        old.headers = ["Cookie: _ga=GA1.2.1234567890.1700000000; AWSALB=\(opaque)x; country=de"]
        var advertiser = get(
            "stats.g.doubleclick.net", "/j?cid=555.1700000000", "Cookie: IDE=\(opaque)z")
        advertiser.responseHeaders = ["Set-Cookie: IDE=\(opaque)z; Max-Age=31536000; Secure"]
        return [
            page, old, advertiser, .login("c0rrect-Horse-7", at: "api.shop-one.test"),
            get(
                "region1.google-analytics.com",
                "/g/collect?v=2&cid=555.1700000000&sid=1700000000&sr=1920x1080&ul=en-us"),
            get("www.facebook.com", "/tr/?id=1234567890&fbp=fb.1.1700000000000.123456789"),
            get(
                "bat.bing.com", "/action/0?ti=1&sid=\(opaque)b&vid=\(opaque)c",
                "Cookie: MUID=\(opaque)d"),
            beacon("api-js.mixpanel.com", "/track/?verbose=1", "data=\(mixpanel)"),
            beacon(
                "api.segment.io", "/v1/p",
                #"{"writeKey":"\#(opaque)e","anonymousId":"8f14e45f-ceea-467f-a0e6-5b2c1d9e3f70","context":{"timezone":"Europe/Berlin","locale":"en-US"}}"#
            ),
            beacon(
                "o1.ingest.sentry.io",
                "/api/1/envelope/?sentry_key=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
                #"{"dsn":"https://0f1e2d3c4b5a69788796a5b4c3d2e1f0@o1.ingest.sentry.io/1"}"#),
            beacon(
                "firebaseinstallations.googleapis.com", "/v1/x?key=\(webKey)", #"{"fid":"d1"}"#),
            .answer(#"{"password":"Password","errors":{"password":"required|min:8"}}"#),
            .answer("var k=\"\(webKey)\"", "application/javascript"),
            get("fonts.gstatic.com", "/s/roboto/v30/KFOmCnqEu92Fr1Mu4mxK.woff2"),
        ]
    }
}
