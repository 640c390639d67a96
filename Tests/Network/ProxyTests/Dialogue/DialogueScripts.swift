import Traffic

private let smtp: [DialogueScript.Step] = [
    .origin("220 mx ESMTP\r\n"), .client("EHLO a\r\n"), .origin("250-mx\r\n250 STARTTLS\r\n"),
]
private let asked = ["upgrade-offered", "upgrade-asked"]
/// ~00 AUTH PLAIN with a name and a password.
private let login = "AUTH PLAIN AHVzZXIAc2VjcmV0\r\n"
private let mysqlGreeting =
    "~4a~00~00~00~0a8.0.0~00~01~00~00~00abcdefgh~00~ff~ff~08~02~00~ff~c1~15"
    + "~00~00~00~00~00~00~00~00~00~00abcdefghijkl~00mysql_native_pa"

extension DialogueScript {
    static let mail: [DialogueScript] = [
        .init(
            "SMTP, accepted", "smtp", "STARTTLS", notes: asked,
            smtp + [
                .client("STARTTLS\r\n"), .origin("220 go\r\n"), .secure, .client("EHLO a\r\n"),
                .origin("250 AUTH PLAIN\r\n"), .client(login), .origin("235 ok\r\n"),
            ]),
        .init(
            "SMTP, refused, and a login in plain", "smtp",
            notes: asked + ["upgrade-refused", "plaintext-login"],
            smtp + [
                .client("STARTTLS\r\n"), .origin("454 not now\r\n"), .client(login),
                .origin("235 ok\r\n"), .client("QUIT\r\n"), .origin("221 bye\r\n"),
            ]),
        .init(
            "SMTP, refused, then accepted", "smtp", "STARTTLS", notes: asked + ["upgrade-refused"],
            smtp + [
                .client("STARTTLS\r\n"), .origin("454 not now\r\n"), .client("STARTTLS\r\n"),
                .origin("220 now\r\n"), .secure, .client("QUIT\r\n"), .origin("221 bye\r\n"),
            ]),
        .init(
            "SMTP, commands behind STARTTLS", "smtp", "STARTTLS",
            notes: asked + ["upgrade-injection"],
            smtp + [
                .clientInjects("STARTTLS\r\n".wire, dropped: "RSET\r\nMAIL FROM:<a@b>\r\n".wire),
                .origin("220 go\r\n"), .secure, .client("EHLO a\r\n"), .origin("250 a\r\n"),
            ]),
        .init(
            "SMTP, an answer behind the origin's 220", "smtp", "STARTTLS",
            notes: asked + ["upgrade-injection"],
            smtp + [
                .client("STARTTLS\r\n"),
                .originInjects("220 go\r\n".wire, dropped: "250 AUTH PLAIN\r\n".wire), .secure,
                .client("EHLO a\r\n"), .origin("250 a\r\n"),
            ]),
        .init(
            "SMTP, commands behind a refused STARTTLS", "smtp", notes: asked + ["upgrade-refused"],
            smtp + [
                .clientPipelines(
                    "STARTTLS\r\n".wire, held: "RSET\r\n".wire, answer: "454 no\r\n".wire),
                .origin("250 ok\r\n"),
            ]),
        .init(
            "SMTP, client speaks first", "smtp", "STARTTLS", notes: ["upgrade-asked"],
            [
                .client("EHLO a\r\n"), .origin("220 mx\r\n250 a\r\n"), .client("STARTTLS\r\n"),
                .origin("220 go\r\n"), .secure, .client("QUIT\r\n"), .origin("221 bye\r\n"),
            ]),
        .init(
            "SMTP, plain login", "smtp", notes: ["upgrade-offered", "plaintext-login"],
            smtp + [.client(login), .origin("235 ok\r\n")]),
        .init(
            "SMTP, origin ends", "smtp", originEnds: true,
            [.origin("220 mx ESMTP\r\n"), .client("QUIT\r\n"), .origin("221 bye\r\n")]),
        .init(
            "IMAP", "imap", "STARTTLS", notes: asked,
            [
                .origin("* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n"),
                .client("a1 STARTTLS\r\n"), .origin("a1 OK begin\r\n"), .secure,
                .client("a2 LOGIN user secret\r\n"), .origin("a2 OK\r\n"),
            ]),
        .init(
            "IMAP, refused", "imap", notes: asked + ["upgrade-refused", "plaintext-login"],
            [
                .origin("* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n"),
                .client("a1 STARTTLS\r\n"), .origin("a1 NO\r\n"),
                .client("a2 LOGIN user secret\r\n"), .origin("a2 OK\r\n"),
            ]),
        .init(
            "POP3", "pop3", "STLS", notes: ["upgrade-asked"],
            [
                .origin("+OK ready\r\n"), .client("STLS\r\n"), .origin("+OK go\r\n"), .secure,
                .client("USER a\r\n"), .origin("+OK\r\n"), .client("PASS secret\r\n"),
                .origin("+OK\r\n"),
            ]),
        .init(
            "FTP", "ftp", "AUTH TLS", notes: ["upgrade-asked"],
            [
                .origin("220 FTP\r\n"), .client("AUTH TLS\r\n"), .origin("234 go\r\n"), .secure,
                .client("USER a\r\n"), .origin("331 ?\r\n"), .client("PASS secret\r\n"),
                .origin("230 in\r\n"),
            ]),
        .init(
            "FTP, refused", "ftp", notes: ["upgrade-asked", "upgrade-refused", "plaintext-login"],
            [
                .origin("220 FTP\r\n"), .client("AUTH TLS\r\n"), .origin("502 no\r\n"),
                .client("USER a\r\n"), .origin("331 ?\r\n"), .client("PASS secret\r\n"),
                .origin("230 in\r\n"),
            ]),
    ]

    static let others: [DialogueScript] = [
        .init(
            "XMPP", "xmpp", "starttls", notes: asked,
            [
                .client("<stream:stream to='a'>"),
                .origin("<stream:stream><stream:features><starttls/></stream:features>"),
                .client("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"),
                .origin("<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"), .secure,
                .client("<stream:stream to='a'>"), .origin("<stream:stream>"),
            ]),
        .init(
            "LDAP", "ldap", "StartTLS", notes: ["upgrade-asked"],
            [
                .client("~30~1d~02~01~01~77~18~80~161.3.6.1.4.1.1466.20037"),
                .origin("~30~0c~02~01~01~78~07~0a~01~00~04~00~04~00"), .secure,
                .client("~30~0c~02~01~02~60~07~02~01~03~04~00~80~00"),
                .origin("~30~0c~02~01~02~61~07~0a~01~00~04~00~04~00"),
            ]),
        .init(
            "LDAP, refused", "ldap", notes: ["upgrade-asked", "upgrade-refused"],
            [
                .client("~30~1d~02~01~01~77~18~80~161.3.6.1.4.1.1466.20037"),
                .origin("~30~0c~02~01~01~78~07~0a~01~34~04~00~04~00"),
                .client("~30~05~02~01~02~42~00"),
            ]),
        .init(
            "PostgreSQL", "postgresql", "SSLRequest", notes: ["upgrade-asked"],
            [
                .client("~00~00~00~08~04~d2~16~2f"), .origin("S"), .secure,
                .client("~00~00~00~10~00~03~00~00user~00~00~00~00"),
                .origin("R~00~00~00~08~00~00~00~03"), .client("p~00~00~00~0bsecret~00"),
            ]),
        .init(
            "PostgreSQL, refused", "postgresql",
            notes: ["upgrade-asked", "upgrade-refused", "plaintext-login"],
            [
                .client("~00~00~00~08~04~d2~16~2f"), .origin("N"),
                .client("~00~00~00~10~00~03~00~00user~00~00~00~00"),
                .origin("R~00~00~00~08~00~00~00~03"), .client("p~00~00~00~0bsecret~00"),
                .origin("R~00~00~00~08~00~00~00~00"),
            ]),
        .init(
            "PostgreSQL, GSSAPI refused first", "postgresql", "SSLRequest",
            notes: ["upgrade-asked", "upgrade-refused"],
            [
                .client("~00~00~00~08~04~d2~16~30"), .origin("N"),
                .client("~00~00~00~08~04~d2~16~2f"), .origin("S"), .secure,
                .client("~00~00~00~10~00~03~00~00user~00~00~00~00"), .origin("R"),
            ]),
        .init(
            "MySQL", "mysql", "SSLRequest", notes: asked,
            [
                .origin(mysqlGreeting),
                .client(
                    "~20~00~00~01~85~ae~ff~19~00~00~00~01~ff"
                        + String(repeating: "~00", count: 23)), .secure,
                .client("~05~00~00~02abcde"), .origin("~01~00~00~03~00"),
            ]),
        .init(
            "MySQL in plain", "mysql", notes: ["upgrade-offered"],
            [
                .origin(mysqlGreeting),
                .client("~22~00~00~01~85~a6~ff~19" + String(repeating: "~00", count: 30)),
                .origin("~01~00~00~02~00"),
            ]),
        .init(
            "a hello in mid-stream", "unknown", "ClientHello",
            [
                .client("~01~02~03~04"), .origin("~05~06"), .secure, .client("~07"),
                .origin("~08"),
            ]),
        .init(
            "unknown text", "unknown", outcome: .passedThrough,
            [.client("what ever\n"), .origin("so be it\n")]),
        .init(
            "a file that begins as no TLS does", "unknown", outcome: .passedThrough,
            [.client("~16~00~ff~d8"), .origin("~01")]),
        .init(
            "a file of one byte", "unknown", outcome: .passedThrough, [.client("~ff")]),
        .init("a file of capitals", "unknown", outcome: .passedThrough, [.client("ABC")]),
        .init(
            "SSH", "ssh", nil,
            [.client("SSH-2.0-a\r\n"), .origin("SSH-2.0-b\r\n"), .client("~00~00"), .origin("~01")]
        ),
        .init(
            "IRC", "irc", "STARTTLS", notes: ["upgrade-asked"],
            [
                .client("NICK a\r\n"), .client("STARTTLS\r\n"), .origin(":s 670 a :go\r\n"),
                .secure,
                .client("PASS secret\r\n"), .origin(":s 001 a :hi\r\n"),
            ]),
    ]
}
