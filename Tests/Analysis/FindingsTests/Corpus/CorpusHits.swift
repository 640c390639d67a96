import Base
import LoginRows
import Traffic

@testable import Findings

/// What has to be found: names and forms that standards, frameworks and servers have.
enum CorpusHits {
    static let rows: [CorpusRow] =
        passwords + keys + cookies + tokens + authorizations + pages + dialogues + sockets

    /// Names of password fields of frameworks, and of eight languages.
    static let passwordNames = [
        "password", "passwd", "pwd", "pass", "passphrase", "passcode", "userPassword",
        "user_password", "loginPassword", "new-password", "currentPassword", "j_password",
        "PASSWORD", "Password1", "passwort", "kennwort", "mdp", "contrasena", "clave", "senha",
        "wachtwoord", "haslo",
    ]
    static let secret = "Tr0ub4dor-3x"

    private static let passwords: [CorpusRow] = passwordNames.flatMap { name in
        Carrier.allCases.map { carrier in
            .hit(
                "\(carrier.rawValue) \(name)", carrier == .query ? .urlPassword : .plainHTTPForm,
                carrier.sample(name, secret))
        } + [
            .hit(
                "query of TLS \(name)", .urlPassword,
                Carrier.query.sample(name, secret, over: .https))
        ]
    }

    static let opaque = "Zk3vQ9xW2pLr7Ty1aB4d"
    private static let digits = "9f8a7c6b5d4e3f2a1b0c"

    private static let keys: [CorpusRow] = [
        "X-API-Key", "Api-Key", "apikey", "X-Auth-Token", "X-Access-Token", "Private-Token",
        "Job-Token", "Ocp-Apim-Subscription-Key", "X-Amz-Security-Token", "X-Vault-Token",
        "X-Client-Secret", "X-App-Api-Key",
    ].flatMap { name in
        [opaque, digits].map { .hit("\(name) \($0)", .plainHTTPAPIKey, .clear("\(name): \($0)")) }
    }

    /// Session cookies of frameworks, sent and set.
    private static let cookies: [CorpusRow] = [
        "PHPSESSID", "JSESSIONID", "ASPSESSIONIDQQABCDEF", "ASP.NET_SessionId", "connect.sid",
        "sid", "sessionid", "session_id", "laravel_session", "_shop_session", "auth_token", "token",
        "remember_token", "wordpress_logged_in_0f1e2d3c4b5a6978",
    ].flatMap { name in
        [
            .hit("sent \(name)", .plainHTTPCookie, .clear("Cookie: a=b; \(name)=\(opaque)")),
            .hit(
                "set \(name)", .plainHTTPCookie,
                Sample(responseHeaders: ["Set-Cookie: \(name)=\(opaque); Path=/; HttpOnly"])),
            .hit(
                "first over TLS \(name)", .plainHTTPCookie,
                Sample(
                    scheme: .https,
                    responseHeaders: [
                        "Set-Cookie: \(name)=\(opaque); Secure; HttpOnly; SameSite=Lax"
                    ]), .clear("Cookie: \(name)=\(opaque)")),
        ]
    }

    private static let tokens: [CorpusRow] = [
        "access_token", "id_token", "refresh_token", "session_id", "sid", "jsessionid",
        "auth_token", "api_key",
    ].flatMap { name in
        [("opaque", opaque), ("JWT", exampleToken), ("digits", "0A1B2C3D4E5F60718293A4B5")].flatMap
        {
            kind, value in
            [ExchangeRecord.Scheme.https, .http].map { scheme in
                .hit(
                    "\(scheme.rawValue) \(name) \(kind)",
                    name == "access_token" && scheme == .http ? .plainHTTPBearer : .urlToken,
                    .get("/a?\(name)=\(value)", over: scheme))
            }
        }
    }

    private static let authorizations: [CorpusRow] = [
        ("Basic dGVzdDoxOjM0", RuleID.plainHTTPBasic), ("Basic  dGVzdDoxOjM0", .plainHTTPBasic),
        ("basic cHJvYmUudXNlcjpQcjBiZS1TM2NyZXQh", .plainHTTPBasic),
        ("BASIC QWxhZGRpbjpvcGVuIHNlc2FtZQ==", .plainHTTPBasic),
        ("Basic dGVzdDoxMjPCow==", .plainHTTPBasic), ("Basic YTpiYw", .plainHTTPBasic),
        ("Bearer mF_9.B5f-4.1JqM", .plainHTTPBearer), ("bearer \(opaque)", .plainHTTPBearer),
        ("BEARER \(exampleToken)", .plainHTTPBearer), ("Token \(digits)", .plainHTTPBearer),
        ("token \(opaque)", .plainHTTPBearer), ("OAuth \(opaque)", .plainHTTPBearer),
        (exampleToken, .plainHTTPAuthorization), ("Turbo x7f2k9", .plainHTTPAuthorization),
        (
            "Digest username=\"Mufasa\", realm=\"testrealm@host.com\", uri=\"/dir/index.html\","
                + " response=\"6629fae49393a05397450978507c4ef1\"", .hashHTTPDigest
        ),
        (
            "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/s3/aws4_request,"
                + " SignedHeaders=host, Signature=\(String(repeating: "0f", count: 32))",
            .hashHTTPSignature
        ),
        ("Hawk id=\"dh37fgj492je\", mac=\"6R4rV5iE+NPoym+WwjeHzjAGXUtLNIxm\"", .hashHTTPSignature),
    ].map { value, rule in .hit(value, rule, .clear("Authorization: \(value)")) }

    private static let pages: [CorpusRow] =
        [
            "<input type=password>", "<INPUT TYPE='PASSWORD' name=p>",
            "<form method=post><input name=u><input name=p type=\"password\"></form>",
            "<div><input  type = password ></div>",
        ].map { .hit($0, .plainHTTPLoginPage, .page($0, over: .http)) }
        + [
            #"<form action="http://x/login">"#, #"<form method=post action='HTTP://x/'>"#,
            #"<button formaction="http://x/login">"#,
        ].map { .hit($0, .plainHTTPLoginPage, .page($0, over: .https)) }

    /// What client libraries sent to log in, and what was written down of servers.
    private static let dialogues: [CorpusRow] =
        LoginVector.all.map { vector in
            CorpusRow(
                name: vector.name, wanted: vector.isHash ? .hashLogin : .plainLogin,
                also: [.upgradeUnused],
                traffic: .dialogue(
                    .said("unknown", .client(hex: vector.client), .origin(hex: vector.origin))))
        }
        + [
            ("ftp", "220 a\r\n331 b\r\n230 c\r\n", "USER nora\r\nPASS \(secret)\r\n"),
            ("ftp lower case", "220 a\r\n331 b\r\n230 c\r\n", "user nora\r\npass \(secret)\r\n"),
            ("pop3", "+OK a\r\n+OK\r\n+OK\r\n", "USER nora\r\nPASS \(secret)\r\n"),
            ("imap", "* OK a\r\na1 OK\r\n", "a1 LOGIN nora \(secret)\r\n"),
            ("imap quoted", "* OK a\r\na1 OK\r\n", "a1 login \"nora\" \"\(secret)\"\r\n"),
            (
                "nntp", "200 a\r\n381 b\r\n281 c\r\n",
                "AUTHINFO USER nora\r\nAUTHINFO PASS \(secret)\r\n"
            ),
            ("irc", "", "PASS \(secret)\r\nNICK nora\r\nUSER nora 0 * :N\r\n"),
            ("redis", "+OK\r\n", "*2\r\n$4\r\nAUTH\r\n$12\r\n\(secret)\r\n"),
            ("redis typed", "+OK\r\n", "AUTH \(secret)\r\n"),
            ("stomp", "CONNECTED\n\n\0", "CONNECT\nlogin:nora\npasscode:\(secret)\n\n\0"),
            (
                "rtsp", "RTSP/1.0 200 OK\r\nCSeq: 2\r\n\r\n",
                "DESCRIBE rtsp://c.example/1 RTSP/1.0\r\nCSeq: 2\r\nAuthorization: Basic"
                    + " \(base64("nora:\(secret)"))\r\n\r\n"
            ),
        ].map { name, origin, client in
            CorpusRow(
                name: name, wanted: .plainLogin, also: [.upgradeUnused],
                traffic: .dialogue(.said("unknown", .origin(origin), .client(client))))
        }

    private static let sockets: [CorpusRow] = passwordNames.map { name in
        CorpusRow(
            name: "message \(name)", wanted: .plainHTTPForm,
            traffic: .socket(.clear(.client("{\"user\":\"nora\",\"\(name)\":\"\(secret)\"}"))))
    }
}
