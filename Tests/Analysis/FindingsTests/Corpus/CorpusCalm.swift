import Base
import LoginRows
import Traffic

@testable import Findings

/// What must not be found at high and firm: names that sound alike, values that are none, keys and
/// identifiers that are no credentials, and what is said where nobody reads it.
enum CorpusCalm {
    static let rows: [CorpusRow] =
        names + values + secured + cookies + headers + parameters + responses + sessions
        + dialogues + sockets

    /// Names that hold a word of a credential, and are about something else.
    private static let names: [CorpusRow] = [
        ("passengers", "seventeen"), ("passenger_count", "17"), ("compass", "north"),
        ("password_hint", "first pet"), ("passwordStrength", "strong"), ("hasPassword", "yes"),
        ("passwordPolicy", "at-least-8"), ("reset_password_url", "/reset"),
        ("passwordExpired", "no"), ("forgotPassword", "yes"), ("minPasswordLength", "8"),
        ("max_password_length", "64"), ("passwordRequired", "yes"), ("passwordType", "text"),
        ("passwordChangedAt", "2026-01-02"), ("passwordLabel", "Password"), ("keyboard", "qwertz"),
        ("monkey", "capuchin"), ("turkey", "roasted"), ("author", "nora"),
        ("authority", "mayor"), ("tokenizer", "whitespace"), ("accessor", "getter"),
        ("bypass", "north-east"), ("passport_country", "NL"), ("passthrough", "yes"),
        ("passive", "yes"), ("pastime", "sailing"), ("secretary", "nora"),
        ("secretariat", "geneva"), ("pinterest", "board"), ("pinned", "yes"),
        ("opinion", "fine-by-me"), ("spinner", "circle"), ("shipping", "by-ship"),
        ("postal_code", "1012AB"), ("country_code", "NL"), ("session_count", "17"),
        ("keyword", "sally port"), ("keywords", "gate"), ("public_key_type", "rsa"),
        ("compassion", "much"), ("trespass", "no"), ("pass_through_mode", "off"),
        ("passage", "sally port"), ("pinboard", "cork"),
    ].flatMap { name, value in
        Carrier.allCases.map { .calm("\($0.rawValue) \(name)", $0.sample(name, value)) }
    }

    /// What stands where a password would, and is none.
    private static let values: [CorpusRow] = [
        "", "********", "null", "undefined", "{{password}}", "${PASSWORD}", "%s", "[REDACTED]",
        "xxxxxxxx",
    ].flatMap { value in
        [Carrier.form, .json, .multipart, .query].map {
            .calm("\($0.rawValue) password=\(value)", $0.sample("password", value))
        }
    }

    /// A login as it should be.
    private static let secured: [CorpusRow] = CorpusHits.passwordNames.flatMap { name in
        Carrier.allCases.filter { $0 != .query }.map {
            .calm(
                "\($0.rawValue) of TLS \(name)",
                $0.sample(name, CorpusHits.secret, over: .https))
        }
    }

    /// Cookies of analytics, consent, taste and protection, in clear and after TLS.
    private static let cookies: [CorpusRow] = [
        "_ga=GA1.2.1234567890.1700000000", "_ga_ABC123DEF4=GS1.1.1700000000.3.1.1700000100.0.0.0",
        "_gid=GA1.2.987654321.1700000000", "_gat=1", "_fbp=fb.1.1700000000000.1234567890",
        "__utma=1.1234567890.1700000000.1700000000.1700000000.1",
        "__utmz=1.1700000000.1.1.utmcsr=(direct)", "lang=en", "locale=nl_NL", "theme=dark",
        "currency=EUR", "tz=Europe/Amsterdam", "CookieConsent=accepted", "cookie_notice=1",
        "csrftoken=Zk3vQ9xW2pLr7Ty1aB4d", "XSRF-TOKEN=Zk3vQ9xW2pLr7Ty1aB4d", "seen=2026-01-02",
        "banner=accept-all-cookies", "layout=three-columns", "cart_count=3", "ab=variant-b",
        "font_size=large", "consent=Zk3vQ9xW2pLr7Ty1aB4d", "i18next=en", "NEXT_LOCALE=en",
    ].flatMap { cookie in
        [
            .calm("sent \(cookie)", .clear("Cookie: \(cookie)")),
            .calm("set \(cookie)", Sample(responseHeaders: ["Set-Cookie: \(cookie); Path=/"])),
        ]
    }

    private static let headers: [CorpusRow] = [
        "X-CSRF-Token: Zk3vQ9xW2pLr7Ty1", "X-XSRF-TOKEN: Zk3vQ9xW2pLr7Ty1",
        "Idempotency-Key: 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0",
        "X-Request-Id: 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0",
        "X-Correlation-ID: Zk3vQ9xW2pLr7Ty1aB4d",
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "If-None-Match: \"33a64df551425fcc55e4d42a148795d9f25f89d4\"",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "X-Forwarded-For: 203.0.113.7",
        "Via: 1.1 proxy.example", "User-Agent: Mozilla/5.0 (X11; Linux x86_64)",
        "Accept-Language: nl,en;q=0.7", "Accept-Encoding: gzip, br", "Range: bytes=0-1023",
        "Origin: http://shop.example", "Referer: http://shop.example/a?page=2",
        "X-Requested-With: XMLHttpRequest", "DNT: 1", "Upgrade-Insecure-Requests: 1",
        "X-Amzn-Trace-Id: Root=1-67891233-abcdef012345678912345678",
        "CF-Ray: 230b030023ae2822-AMS", "If-Modified-Since: Wed, 21 Oct 2026 07:28:00 GMT",
        "X-API-Version: 2026-01-02", "X-API-Key: abc", "X-Key-Count: 17000000",
        "Authorization: ", "Authorization: Bearer undefined", "Authorization: Bearer null",
        "Authorization: Negotiate YIIBhgYGKwYBBQUC", "Cache-Control: no-cache",
    ].map { .calm($0, .clear($0)) }

    private static let parameters: [CorpusRow] = [
        "page_token=CAUQAA", "next_token=\(CorpusHits.opaque)", "cursor=\(CorpusHits.opaque)",
        "continuation=\(CorpusHits.opaque)", "state=\(CorpusHits.opaque)&code=\(CorpusHits.opaque)",
        "utm_source=letter", "utm_campaign=spring-sale-2026", "q=password", "q=how+to+reset+token",
        "sort=author", "v=3.14.159", "id=0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0", "build=1700000000",
        "etag=33a64df551425fcc55e4d42a148795d9f25f89d4", "token=abc", "passenger=2", "compass=1",
        "key=name", "keyboard=nl", "lang=en", "session=off", "auth=none", "redirect=%2Flogin",
        "X-Amz-Signature=0f1e2d3c4b5a69788796a5b4c3d2e1f0&X-Amz-Expires=900",
        "se=2026-01-01&sig=Zk3vQ9xW2pLr7Ty1Zk3vQ9xW2pLr7Ty1", "api_version=2026-01-02",
        "key=AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "width=1024&height=768",
        "from=2026-01-01&to=2026-12-31", "tokenizer=standard",
    ].map { .calm($0, .get("/a?\($0)", over: .https)) }

    private static let responses: [CorpusRow] =
        [
            #"{"passengers":[1,2]}"#, #"{"errors":{"field":"password","code":"too-short"}}"#,
            #"{"message":"Password changed"}"#, #"{"hasPassword":true,"passwordRequired":false}"#,
            #"{"labels":{"password":"Wachtwoord","login":"Inloggen"}}"#, #"{"tokenType":"Bearer"}"#,
            #"{"total":17,"next":null}"#, "[]", #"{"keyboard":"qwertz"}"#, #"{"pin":"on the map"}"#,
        ].map { text in
            .calm(
                text,
                Sample(
                    scheme: .https, responseHeaders: ["Content-Type: application/json"],
                    responseBody: Array(text.utf8)))
        }
        + [
            #"<form action="/login"><input type=password></form>"#,
            #"<form action="https://x/login"><input type=password></form>"#,
            "<!-- <form action=\"http://x/\"> -->", "<p>Type your password",
            "<a href='http://x/'>x</a>",
            "<script>f='<form action=\"http://x/\">'</script>",
        ].map { .calm($0, .page($0, over: .https)) }
        + [
            "<!-- <input type=password> -->", "<script>x='<input type=password>'</script>",
            "<input type=text name=password_hint>", "<p>password</p>",
        ].map { .calm($0, .page($0, over: .http)) }

    /// What a browser fetches: nothing of it is anybody's secret.
    private static let sessions: [CorpusRow] = [
        ("/", "text/html"), ("/app.js", "text/javascript"), ("/style.css", "text/css"),
        ("/fonts/inter.woff2", "font/woff2"), ("/logo.svg", "image/svg+xml"),
        ("/photo.jpg", "image/jpeg"), ("/api/items?page=2", "application/json"),
        ("/favicon.ico", "image/x-icon"), ("/manifest.webmanifest", "application/manifest+json"),
        ("/collect?v=1&tid=UA-12345-1&cid=1234567890.1700000000&t=pageview", "image/gif"),
    ].flatMap { target, type in
        [ExchangeRecord.Scheme.https, .http].map { scheme in
            .calm(
                "\(scheme.rawValue) \(target)",
                Sample(
                    scheme: scheme, target: target,
                    headers: ["User-Agent: Mozilla/5.0", "Accept: */*", "Cookie: theme=dark"],
                    responseHeaders: [
                        "Content-Type: \(type)", "Cache-Control: max-age=3600",
                        "Strict-Transport-Security: max-age=31536000",
                    ]))
        }
    }

    private static let dialogues: [CorpusRow] =
        LoginVector.all.map { vector in
            var sample = DialogueSample.said(
                "unknown", .client(hex: vector.client), .origin(hex: vector.origin))
            sample.isTLS = true
            return CorpusRow(name: "TLS \(vector.name)", wanted: nil, traffic: .dialogue(sample))
        }
        + [
            ("a server's words of FTP", "220 a\r\n530 Login incorrect.\r\n", "NOOP\r\n"),
            ("a guest of FTP", "220 a\r\n331 b\r\n230 c\r\n", "USER ftp\r\nPASS a@b.example\r\n"),
            ("FTP, a directory", "220 a\r\n200 b\r\n", "SYST\r\nPWD\r\nQUIT\r\n"),
            ("SMTP, no mail", "220 a\r\n250 a\r\n221 b\r\n", "EHLO a\r\nQUIT\r\n"),
            (
                "SMTP, a refused login", "220 a\r\n250 a\r\n503 no\r\n",
                "EHLO a\r\nAUTH PLAIN\r\n*\r\n"
            ),
            ("POP3, capabilities", "+OK a\r\n+OK\r\nUSER\r\n.\r\n", "CAPA\r\nQUIT\r\n"),
            (
                "IMAP, capabilities", "* OK a\r\n* CAPABILITY IMAP4rev1\r\na OK\r\n",
                "a CAPABILITY\r\n"
            ),
            ("IMAP, a subject", "* OK a\r\na OK LOGIN user pass\r\n", "a NOOP\r\n"),
            ("NNTP, reading", "200 a\r\n211 1 1 1 g\r\n", "GROUP comp.lang.swift\r\n"),
            ("IRC, a nickname", ":a 001 nora :hi\r\n", "NICK nora\r\nUSER nora 0 * :N\r\n"),
            (
                "IRC, a talk of passwords", ":a 001 n :hi\r\n",
                "NICK n\r\nPRIVMSG #c :PASS the salt\r\n"
            ),
            ("Redis, a value", "+OK\r\n", "*3\r\n$3\r\nSET\r\n$8\r\npassword\r\n$1\r\nx\r\n"),
            ("Redis, a question", "+PONG\r\n", "PING\r\n"),
            ("memcached", "VALUE a 0 1\r\nb\r\nEND\r\n", "get a\r\n"),
            ("STOMP", "CONNECTED\n\n\0", "CONNECT\nhost:a\n\n\0"),
            ("SSH", "SSH-2.0-OpenSSH_9.2\r\n", "SSH-2.0-OpenSSH_9.6\r\n"),
            ("NATS", "INFO {}\r\n", "CONNECT {\"verbose\":false}\r\nPING\r\n"),
            ("nothing", "", ""), ("words", "hello\r\n", "hello there\r\n"),
            ("gibberish", "\u{1}\u{2}\u{3}", "\u{7F}\u{1}x"),
            ("text about logins", "", "LOGIN is a word, and so are USER and PASS\r\n"),
            ("SIP", "SIP/2.0 200 OK\r\n\r\n", "OPTIONS sip:a@b.example SIP/2.0\r\nCSeq: 1\r\n\r\n"),
            (
                "RTSP", "RTSP/1.0 200 OK\r\n\r\n",
                "OPTIONS rtsp://c.example/ RTSP/1.0\r\nCSeq: 1\r\n\r\n"
            ),
            ("XMPP", "<stream:stream>", "<stream:stream to='a.example'>"),
        ].map { name, origin, client in
            CorpusRow(
                name: name, wanted: nil,
                traffic: .dialogue(.said("unknown", .origin(origin), .client(client))))
        }

    private static let sockets: [CorpusRow] =
        [
            #"{"type":"hello"}"#, "42[\"chat\",{\"text\":\"my password is long\"}]", "ping", "",
            #"{"passengers":2}"#, #"{"password":"********"}"#, #"{"hasPassword":true}"#,
        ].map {
            CorpusRow(name: "message \($0)", wanted: nil, traffic: .socket(.clear(.client($0))))
        }
        + CorpusHits.passwordNames.map { name in
            CorpusRow(
                name: "message of TLS \(name)", wanted: nil,
                traffic: .socket(.secure(.client("{\"\(name)\":\"\(CorpusHits.secret)\"}"))))
        }
}
