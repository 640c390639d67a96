import Base
import Testing

@testable import Redaction

struct HeadRedactionTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let fields: String
        let shown: String
        var testDescription: String { name }

        init(_ name: String, _ fields: String, _ shown: String) {
            self.name = name
            self.fields = fields
            self.shown = shown
        }
    }

    static let rows = [
        Row("harmless", "Host: a\r\nX: y=z; k=v\r\n\r\n", "Host: a\r\nX: y=z; k=v\r\n\r\n"),
        Row(
            "a login in the host", "Host: me:s3cret@a:80\r\nhost: s3cret@b\r\n",
            "Host: ***@a:80\r\nhost: ***@b\r\n"),
        Row(
            "hosts", "Host: a.test:80\r\nHost: [::1]:80\r\n",
            "Host: a.test:80\r\nHost: [::1]:80\r\n"),
        Row(
            "a URL without an authority", "X-Original-URL: /cb?code=s3cret&a=b\r\n",
            "X-Original-URL: /cb?code=***&a=b\r\n"),
        Row(
            "a relative URL", "X-Rewrite-Path: reset?token=s3cret\r\n",
            "X-Rewrite-Path: reset?token=***\r\n"),
        Row("a path alone", "X-Path: /a/b;c=d\r\n", "X-Path: /a/b;c=d\r\n"),
        Row("a token", "DPoP: eyJ0eXAi.e30.c2ln\r\n", "DPoP: ***\r\n"),
        Row(
            "a token among other signs", "X-Data: id=\"eyJ0eXAi.e30.c2ln\", v=1\r\n",
            "X-Data: id=\"***\", v=1\r\n"),
        Row(
            "a token as a protocol",
            "Sec-WebSocket-Protocol: v4.channel.k8s.io,"
                + " base64url.bearer.authorization.k8s.io.bXktdG9rZW4tYnl0ZXM\r\n",
            "Sec-WebSocket-Protocol: v4.channel.k8s.io,"
                + " base64url.bearer.authorization.k8s.io.***\r\n"),
        Row(
            "a token behind its name", "Sec-WebSocket-Protocol: bearer, s3cret\r\n",
            "Sec-WebSocket-Protocol: bearer, ***\r\n"),
        Row(
            "protocols", "Sec-WebSocket-Protocol: graphql-ws, v12.stomp, mqtt\r\n",
            "Sec-WebSocket-Protocol: graphql-ws, v12.stomp, mqtt\r\n"),
        Row("basic", "Authorization: Basic bm9y\r\n", "Authorization: Basic ***\r\n"),
        Row("any case", "aUTHORIZATION:basic bm9y\r\n", "aUTHORIZATION:basic ***\r\n"),
        Row("two spaces", "Authorization:  Basic  bm9y\r\n", "Authorization:  Basic ***\r\n"),
        Row(
            "digest", "Proxy-Authorization: Digest a=\"b\"\r\n",
            "Proxy-Authorization: Digest ***\r\n"),
        Row("no scheme", "Authorization: s3cret\r\n", "Authorization: ***\r\n"),
        Row("no scheme but spaces", "Authorization: s3c/ret x\r\n", "Authorization: ***\r\n"),
        Row("empty", "Authorization:\r\n", "Authorization:***\r\n"),
        Row(
            "space before the colon", "Authorization : Basic x\r\n", "Authorization : Basic ***\r\n"
        ),
        Row("cookies", "Cookie: a=1; b=2=3;c\r\n", "Cookie: a=***; b=***;***\r\n"),
        Row("cookie without a name", "Cookie: s3cret\r\n", "Cookie: ***\r\n"),
        Row(
            "new cookie", "Set-Cookie: a=1; Path=/; Domain=x\r\n",
            "Set-Cookie: a=***; Path=/; Domain=x\r\n"),
        Row(
            "new cookie without a name", "Set-Cookie: s3cret; Path=/\r\n",
            "Set-Cookie: ***; Path=/\r\n"),
        Row(
            "secret by its name", "X-Api-Key: k\r\nX-Auth-Token: t\r\nPrivate-Token:u\r\n",
            "X-Api-Key: ***\r\nX-Auth-Token: ***\r\nPrivate-Token:***\r\n"),
        Row(
            "harmless keys", "Sec-WebSocket-Key: a\r\nIdempotency-Key: b\r\n",
            "Sec-WebSocket-Key: a\r\nIdempotency-Key: b\r\n"),
        Row(
            "challenge", "WWW-Authenticate: Basic realm=\"x\"\r\n",
            "WWW-Authenticate: Basic realm=\"x\"\r\n"),
        Row(
            "URLs in fields", "Referer: https://a/?token=x\r\nLocation: /b?q=1\r\n",
            "Referer: https://a/?token=***\r\nLocation: /b?q=1\r\n"),
        Row(
            "URLs in any field",
            "X-Forwarded-Url: http://u:pw1@h/?token=t1\r\nX-A:a  <http://u:p@h>\r\n http://u:p@h\r\n",
            "X-Forwarded-Url: http://***@h/?token=***\r\nX-A:a  <http://***@h>\r\n http://***@h\r\n"
        ),
        Row(
            "folded", "Authorization: Basic\r\n bm9y\r\n\tdGU=\r\nA: b\r\n",
            "Authorization: ***\r\n ***\r\n\t***\r\nA: b\r\n"),
        Row(
            "folded with a colon", "Cookie: a=1;\r\n b=s3cret:x\r\nA: b\r\n",
            "Cookie: a=***;\r\n ***\r\nA: b\r\n"),
        Row("no field after a secret", "Cookie: a=1\r\ns3cret\r\n", "Cookie: a=***\r\n***\r\n"),
        Row("folded harmless", "A: b\r\n c\r\n", "A: b\r\n c\r\n"),
        Row("bare line feeds", "Cookie: a=1\nA: b\n\n", "Cookie: a=***\nA: b\n\n"),
        Row(
            "bare carriage return hides a field", "A: b\rCookie: a=1\r\nC: d\r\n",
            "A: b\rCookie: a=***\r\nC: d\r\n"),
        Row(
            "bare carriage return in a secret", "Cookie: a=1\rs3c: ret\r\nC: d\r\n",
            "Cookie: a=***\r\nC: d\r\n"),
        Row("cut off", "Cookie: a=1", "Cookie: a=***"),
        Row("no name", ": x\r\n", ": x\r\n"),
    ]

    @Test(arguments: rows)
    func redactsFields(_ row: Row) {
        let start = "GET / HTTP/1.1\r\n"
        let shown = HeadRedaction.redact(head: [UInt8]((start + row.fields).utf8))
        #expect(shown.text == start + row.shown)
        #expect(HeadRedaction.redact(trailers: [UInt8](row.fields.utf8)).text == row.shown)
    }

    static let redactsStartLinesRows: [Row] = [
        Row("target", "GET /?token=x HTTP/1.1\r\n\r\n", "GET /?token=*** HTTP/1.1\r\n\r\n"),
        Row("userinfo", "GET http://a:b@c/ HTTP/1.0\n", "GET http://***@c/ HTTP/1.0\n"),
        Row("no version", "GET /?token=x\r\n\r\n", "GET /?token=***\r\n\r\n"),
        Row("spaces", "GET /?token=x y HTTP/1.1\r\n", "GET /?token=*** HTTP/1.1\r\n"),
        Row(
            "authority", "CONNECT a.example:443 HTTP/1.1\r\n", "CONNECT a.example:443 HTTP/1.1\r\n"),
        Row("status", "HTTP/1.1 200 token=x\r\n", "HTTP/1.1 200 token=x\r\n"),
        Row("one word", "garbage", "garbage"),
        Row("empty", "", ""),
    ]

    @Test(arguments: redactsStartLinesRows)
    func redactsStartLines(_ row: Row) {
        #expect(HeadRedaction.redact(head: [UInt8](row.fields.utf8)).text == row.shown)
    }
}
