import TestConditions
import Testing

@testable import Redaction

struct URLRedactionTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let url: String
        let shown: String
        var testDescription: String { url }

        init(_ url: String, _ shown: String) {
            self.url = url
            self.shown = shown
        }

        /// A row that is shown as it is.
        init(kept url: String) {
            self.init(url, url)
        }
    }

    static let rows = [
        Row(kept: ""),
        Row(kept: "/"),
        Row(kept: "*"),
        Row(kept: "example.com:443"),
        Row(kept: "https://example.com"),
        Row(kept: "https://[::1]:8443/a@b"),
        Row(kept: "https://example.com:8443/a:b@c?d"),
        Row(kept: "/a?page=2&q=monkey&sort="),
        Row(kept: "/a?q=abc=="),
        Row(kept: "/a?keyboard=us&author=x&passenger=3&assignee=y&design=z"),
        Row(kept: "/a?token="),
        Row(kept: "/a?token"),
        Row(kept: "/a?b=c#top"),
        Row(kept: "/a;v=1/b?c;d"),
        Row(kept: "/a?next=%2Fcart%3Fpage%3D2"),
        Row(kept: "/a?data=%7B%22page%22%3A1%7D"),
        Row("/a?data=%7B%22password%22%3A%22x%22%7D", "/a?data=***"),
        Row(kept: "/a?data=eyJhIjoxfQ=="),
        Row("/a?x=ghp_" + String(repeating: "a1", count: 18), "/a?x=***"),
        Row("/b/xoxb-" + String(repeating: "a1", count: 18) + "/c", "/b/***/c"),
        Row(kept: "/a/ghp_short/sk-ant"),
        Row("/a?data=eyJwYXNzd29yZCI6IngifQ==", "/a?data=***"),
        Row("/a?data=eyJwYXNzd29yZCI6IngifQ", "/a?data=***"),
        Row("https://nora@example.com/", "https://***@example.com/"),
        Row("https://nora:pa55@example.com:1/x", "https://***@example.com:1/x"),
        Row("https://nora:p@a@example.com/", "https://***@example.com/"),
        Row("https://nora:pa/ss@example.com/x", "https://***@example.com/x"),
        Row("https://nora:pa?ss@example.com/x", "https://***@example.com/x"),
        Row("https://nora:pa#ss@example.com/x", "https://***@example.com/x"),
        Row("/a?mail=nora@example.com", "/a?mail=***"),
        Row("//nora:pa55@example.com/", "//***@example.com/"),
        Row("nora:pa55@example.com:443", "***@example.com:443"),
        Row("/a?token=x", "/a?token=***"),
        Row("/a?token=x&b=c", "/a?token=***&b=c"),
        Row("/a?b=c;token=x", "/a?b=c;token=***"),
        Row("/a?access_token=x", "/a?access_token=***"),
        Row("/a?accessToken=x", "/a?accessToken=***"),
        Row("/a?ACCESSTOKEN=x", "/a?ACCESSTOKEN=***"),
        Row("/a?user[password]=x", "/a?user[password]=***"),
        Row("/a?%70assword=x", "/a?%70assword=***"),
        Row("/a?password=a=b", "/a?password=***"),
        Row("/a?token=x?token=y", "/a?token=***?token=***"),
        Row(
            "/a?X-Amz-Signature=x&X-Amz-Credential=y", "/a?X-Amz-Signature=***&X-Amz-Credential=***"
        ),
        Row("/a?api_key=x&apikey=y&key=z", "/a?api_key=***&apikey=***&key=***"),
        Row("/a?sig=x&sid=y&PHPSESSID=z", "/a?sig=***&sid=***&PHPSESSID=***"),
        Row("/cb?code=x&state=y", "/cb?code=***&state=***"),
        Row("/cb#access_token=x&type=y", "/cb#access_token=***&type=y"),
        Row("/a;jsessionid=x/b", "/a;jsessionid=***/b"),
        Row("/a;jsessionid=x?c=d", "/a;jsessionid=***?c=d"),
        Row("/a?t=eyJhbGciOiJub25lIn0.e30.", "/a?t=***"),
        Row("/reset/eyJhbGciOiJub25lIn0.e30.x/y", "/reset/***/y"),
        Row(kept: "/eyJ"),
        Row(kept: "/a/eyJhbGci"),
        Row(kept: "/aeyJ.x/ey/e"),
        Row("/aeyJ/eyJ.x", "/aeyJ/***"),
        Row("https://h/eyJ.", "https://h/***"),
        Row("/a?eyJhbGciOiJub25lIn0.e30.x", "/a?***"),
        Row("/a?u=https%3A%2F%2Fn%3Ap%40h%2F", "/a?u=***"),
        Row("/a?next=%2Fcb%3Ftoken%3Dx", "/a?next=***"),
        Row("/a?next=/cb?token=x", "/a?next=/cb?token=***"),
        Row("/a?a=%2525253D", "/a?a=***"),
    ]

    @Test(arguments: rows)
    func redacts(_ row: Row) {
        #expect(URLRedaction.redact(row.url) == row.shown)
    }

    @Test(arguments: rows)
    func isIdempotent(_ row: Row) {
        #expect(URLRedaction.redact(row.shown) == row.shown)
    }

    @Test func keepsBytesThatAreNoText() {
        let url: [UInt8] = [0x2F, 0xFF, 0x3F, 0x61, 0x3D, 0xFE]
        #expect(URLRedaction.redact(url) == url)
    }

    @Test(
        .processorTime(below: .seconds(60)),
        arguments: ["?a=b&", "%3D", "=", "@", "/;", "?x=%2525", "://"])
    func longHostileURLsTakeLinearTime(_ piece: String) {
        let url = String(repeating: piece, count: 200_000 / piece.utf8.count)
        #expect(URLRedaction.redact(url).utf8.count <= 2 * url.utf8.count)
    }
}
