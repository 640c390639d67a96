/// The start of a ClientHello.
let hello = "~16~03~01~00~05~01~00~00~01~00"
private let ehlo = "250-mx.example greets you\r\n250-PIPELINING\r\n250-STARTTLS\r\n250 HELP\r\n"

/// Dialogues of lines.
enum LineDialogues {
    static let mail: [UpgradeRow] = [
        .init(
            "SMTP", "smtp, offers STARTTLS, asks STARTTLS, SECURED by STARTTLS",
            [
                .origin("220 mx.example ESMTP Postfix\r\n"), .client("EHLO a\r\n"), .origin(ehlo),
                .client("STARTTLS\r\n"), .origin("220 2.0.0 Ready to start TLS\r\n"),
                .client("", rest: hello),
            ]),
        .init(
            "SMTP without a word of it in the greeting", "smtp, asks STARTTLS, SECURED by STARTTLS",
            [
                .origin("220-hello\r\n220 there\r\n"), .client("ehlo a\r\n"),
                .origin("250 hello\n"),
                .client("staRttLs\n"), .origin("220 go\n"),
            ]),
        .init(
            "SMTP, greeting and command pipelined",
            "smtp, asks STARTTLS, offers STARTTLS, SECURED by STARTTLS",
            [
                .origin("220 a\r\n"), .client("EHLO a\r\nSTARTTLS\r\n"),
                .origin(ehlo + "220 go\r\n"), .client("", rest: hello),
            ]),
        .init(
            "SMTP, client does not wait for the greeting",
            "smtp, asks STARTTLS, SECURED by STARTTLS",
            [
                .client("EHLO a\r\nSTARTTLS\r\n"), .origin("220 a\r\n250 a\r\n220 go\r\n"),
            ]),
        .init(
            "SMTP, injected by the client",
            "smtp, asks STARTTLS, SECURED by STARTTLS, INJECTED by client",
            [
                .origin("220 a\r\n"), .client("EHLO a\r\n"), .origin("250 a\r\n"),
                .client("STARTTLS\r\n", rest: "RSET\r\nMAIL FROM:<a@b>\r\n"), .origin("220 go\r\n"),
            ]),
        .init(
            "SMTP, injected by the origin",
            "smtp, asks STARTTLS, SECURED by STARTTLS, INJECTED by origin",
            [
                .origin("220 a\r\n"), .client("EHLO a\r\n"), .origin("250 a\r\n"),
                .client("STARTTLS\r\n"), .origin("220 go\r\n", rest: "250 AUTH PLAIN\r\n"),
            ]),
        .init(
            "SMTP, injected by both",
            "smtp, asks STARTTLS, SECURED by STARTTLS, INJECTED by client, INJECTED by origin",
            [
                .origin("220 a\r\n"), .client("EHLO a\r\n"), .origin("250 a\r\n"),
                .client("STARTTLS\r\n", rest: "NOOP\r\n"), .origin("220 go\r\n", rest: "250 x\r\n"),
            ]),
        .init(
            "SMTP, the hello comes early", "smtp, asks STARTTLS, SECURED by STARTTLS",
            [
                .origin("220 a\r\n"), .client("EHLO a\r\n"), .origin("250 a\r\n"),
                .client("STARTTLS\r\n", rest: hello), .origin("220 go\r\n"),
            ]),
        .init(
            "SMTP, refused",
            "smtp, offers STARTTLS, asks STARTTLS, refuses STARTTLS: 454 4.7.0 not now, login AUTH PLAIN in spite of the offer",
            [
                .origin("220 a\r\n"), .client("EHLO a\r\n"), .origin(ehlo), .client("STARTTLS\r\n"),
                .origin("454 4.7.0 not now\r\n"), .client("AUTH PLAIN AHUAcHc=\r\n"),
                .origin("235 ok\r\n"), .client("MAIL FROM:<a@b>\r\n"),
            ]),
        .init(
            "SMTP, refused, and more behind the command",
            "smtp, asks STARTTLS, refuses STARTTLS: 502 what?",
            [
                .origin("220 a\r\n"), .client("EHLO a\r\n"), .origin("250 a\r\n"),
                .client("STARTTLS\r\nMAIL FROM:<a@b>\r\n"), .origin("502 what?\r\n"),
                .origin("250 ok\r\n"),
            ]),
        .init(
            "SMTP, asked again after a refusal",
            "smtp, asks STARTTLS, refuses STARTTLS: 454 later, asks STARTTLS, SECURED by STARTTLS",
            [
                .origin("220 a\r\n"), .client("EHLO a\r\n"), .origin("250 a\r\n"),
                .client("STARTTLS\r\n"), .origin("454 later\r\n"), .client("STARTTLS\r\n"),
                .origin("220 go\r\n"), .client("", rest: hello),
            ]),
        .init(
            "SMTP, refused in the pipeline", "smtp, asks STARTTLS, refuses STARTTLS: 503 bad",
            [
                .origin("220 a\r\n"), .client("EHLO a\r\n"), .origin("250 a\r\n"),
                .client("MAIL FROM:<a>\r\nRCPT TO:<b>\r\nSTARTTLS\r\n"),
                .origin("250 ok\r\n250 ok\r\n503 bad\r\n"), .client("QUIT\r\n"),
                .origin("221 x\r\n"),
            ]),
        .init(
            "SMTP, STARTTLS within a mail", "smtp",
            [
                .origin("220 a\r\n"), .client("EHLO a\r\n"), .origin("250 a\r\n"),
                .client("DATA\r\n"), .origin("354 go\r\n"),
                .client(
                    "STARTTLS\r\nAUTH PLAIN x\r\n..\r\n" + hello + "\r\n" + hello + "\r\n.\r\n"),
                .origin("250 ok\r\n"), .client("QUIT\r\n"), .origin("220 no\r\n"),
            ]),
        .init(
            "SMTP, TLS after a mail", "smtp, asks STARTTLS, SECURED by STARTTLS",
            [
                .origin("220 a\r\n"), .client("EHLO a\r\n"), .origin("250 a\r\n"),
                .client("DATA\r\n"),
                .origin("354 go\r\n"), .client("x\r\n.\r\nSTARTTLS\r\n"),
                .origin("250 ok\r\n220 go\r\n"), .client("", rest: hello),
            ]),
        .init(
            "SMTP, STARTTLS within BDAT", "smtp",
            [
                .origin("220 a\r\n"), .client("EHLO a\r\n"), .origin("250 a\r\n"),
                .client("BDAT 10 LAST\r\nSTARTTLS\r\nQUIT\r\n"), .origin("250 ok\r\n221 bye\r\n"),
            ]),
        .init(
            "SMTP, challenge", "smtp, login AUTH LOGIN",
            [
                .origin("220 a\r\n"), .client("EHLO a\r\n"), .origin("250 a\r\n"),
                .client("AUTH LOGIN\r\n"), .origin("334 VXNlcm5hbWU6\r\n"), .client("STARTTLS\r\n"),
                .origin("334 UGFzc3dvcmQ6\r\n"), .client("DATA\r\n"), .origin("235 ok\r\n"),
            ]),
        .init(
            "SMTP, hash, then secret", "smtp, login AUTH CRAM-MD5 without secret, login AUTH PLAIN",
            [
                .origin("220 a\r\n"), .client("EHLO a\r\n"), .origin("250 a\r\n"),
                .client("AUTH CRAM-MD5\r\n"), .origin("504 no\r\n"), .client("AUTH PLAIN AA==\r\n"),
                .origin("504 no\r\n"), .client("AUTH PLAIN AA==\r\n"),
            ]),
        .init(
            "SMTP, unknown mechanism is not kept", "smtp, login AUTH without secret",
            [
                .origin("220 a\r\n"), .client("EHLO a\r\n"), .origin("250 a\r\n"),
                .client("AUTH hunter2\r\n"),
            ]),
        .init(
            "LMTP", "lmtp, offers STARTTLS, asks STARTTLS, SECURED by STARTTLS",
            [
                .origin("220 a LMTP ready\r\n"), .client("LHLO a\r\n"),
                .origin("250-a\r\n250 STARTTLS\r\n"), .client("STARTTLS\r\n"),
                .origin("220 go\r\n"), .client("", rest: hello),
            ]),
        .init(
            "SMTP, no answer but a hello", "smtp, SECURED by ClientHello",
            [
                .origin("220 a\r\n"), .client("EHLO a\r\n"), .origin("250 a\r\n"),
                .client("", rest: hello),
            ]),
        .init(
            "SMTP, endless line", "smtp, asks STARTTLS, SECURED by STARTTLS",
            [
                .origin("220 a\r\n"),
                .client("EHLO " + String(repeating: "a", count: 3000) + "\r\n"),
                .origin("250 " + String(repeating: "b", count: 3000) + "\r\n"),
                .client("STARTTLS\r\n"), .origin("220 go\r\n"),
            ]),
    ]

    static let files: [UpgradeRow] = [
        .init(
            "FTP", "ftp, offers AUTH TLS, asks AUTH TLS, SECURED by AUTH TLS",
            [
                .origin("220 Welcome\r\n"), .client("FEAT\r\n"),
                .origin("211-Features:\r\n AUTH TLS\r\n UTF8\r\n211 End\r\n"),
                .client("AUTH TLS\r\n"), .origin("234 go\r\n"), .client("", rest: hello),
            ]),
        .init(
            "FTP, SSL", "ftp, asks AUTH SSL, SECURED by AUTH SSL, INJECTED by client",
            [
                .origin("220-Welcome\r\n  to 220 files\r\n220 x\r\n"),
                .client("AUTH SSL\r\n", rest: "USER x\r\n"), .origin("234 go\r\n"),
            ]),
        .init(
            "FTP, refused", "ftp, asks AUTH TLS, refuses AUTH TLS: 534 no, login PASS",
            [
                .origin("220 FTP server\r\n"), .client("AUTH TLS\r\n"), .origin("534 no\r\n"),
                .client("USER bob\r\n"), .origin("331 password\r\n"), .client("PASS a b\r\n"),
                .origin("230 in\r\n"),
            ]),
        .init(
            "FTP, guest", "ftp, login PASS without secret",
            [
                .origin("220 x\r\n"), .client("USER anonymous\r\n"), .origin("331 x\r\n"),
                .client("PASS a@b\r\n"), .origin("230 in\r\n"), .client("RETR a\r\n"),
                .origin("150 here\r\n226 done\r\n"),
            ]),
    ]

    static let mailboxes: [UpgradeRow] = [
        .init(
            "IMAP", "imap, offers STARTTLS, asks STARTTLS, SECURED by STARTTLS",
            [
                .origin("* OK [CAPABILITY IMAP4rev1 STARTTLS LOGINDISABLED] ready\r\n"),
                .client("a1 STARTTLS\r\n"), .origin("a1 OK begin TLS\r\n"),
                .client("", rest: hello),
            ]),
        .init(
            "IMAP, wrong tags", "imap, asks STARTTLS, SECURED by STARTTLS",
            [
                .origin("* OK x\r\n"), .client("a2 starttls\r\n"),
                .origin("a1 OK no\r\n* OK no\r\na22 OK no\r\n+ OK\r\nA2 OK no\r\na2 ok yes\r\n"),
                .client("", rest: hello),
            ]),
        .init(
            "IMAP, refused", "imap, asks STARTTLS, refuses STARTTLS: a BAD no, login LOGIN",
            [
                .origin("* OK x\r\n"), .client("a STARTTLS\r\n"), .origin("a BAD no\r\n"),
                .client("b LOGIN u p\r\n"), .origin("b OK in\r\n"),
            ]),
        .init(
            "IMAP, injected by both",
            "imap, asks STARTTLS, SECURED by STARTTLS, INJECTED by client, INJECTED by origin",
            [
                .origin("* OK x\r\n"), .client("a STARTTLS\r\n", rest: "b NOOP\r\n"),
                .origin("a OK go\r\n", rest: "* CAPABILITY AUTH=PLAIN\r\n"),
            ]),
        .init(
            "IMAP, offered and not used",
            "imap, offers STARTTLS, login LOGIN in spite of the offer",
            [
                .origin("* OK x\r\n"), .client("a CAPABILITY\r\n"),
                .origin("* CAPABILITY IMAP4rev1 starttls\r\na OK x\r\n"),
                .client("b LOGIN {3}\r\n"), .origin("+ go\r\n"), .client("bob {2}\r\n"),
                .origin("+ go\r\n"), .client("pw\r\n"), .origin("b OK x\r\n"),
            ]),
        .init(
            "IMAP, STARTTLS within a literal of the client", "imap",
            [
                .origin("* PREAUTH x\r\n"), .client("a APPEND m {12}\r\n"), .origin("+ go\r\n"),
                .client("a STARTTLS\r\n\r\nb NOOP\r\n"), .origin("a OK x\r\nb OK x\r\n"),
            ]),
        .init(
            "IMAP, literal that does not wait", "imap",
            [
                .origin("* PREAUTH x\r\n"),
                .client("a APPEND m {12+}\r\na STARTTLS\r\n\r\nb NOOP\r\n"),
                .origin("a OK x\r\nb OK x\r\n"),
            ]),
        .init(
            "IMAP, literal refused", "imap, asks STARTTLS, SECURED by STARTTLS",
            [
                .origin("* OK x\r\n"), .client("a APPEND m {12}\r\n"), .origin("a NO x\r\n"),
                .client("a STARTTLS\r\n"), .origin("a OK x\r\n"),
            ]),
        .init(
            "IMAP, answer within a literal of the origin",
            "imap, asks STARTTLS, refuses STARTTLS: b NO x",
            [
                .origin("* PREAUTH x\r\n"), .client("a FETCH 1 BODY[]\r\nb STARTTLS\r\n"),
                .origin("* 1 FETCH (BODY[] {8}\r\nb OK x\r\n)\r\na OK x\r\nb NO x\r\n"),
            ]),
        .init(
            "IMAP, a huge literal is believed to be long", "imap",
            [
                .origin("* OK x\r\n"),
                .client("a APPEND m {999999999999999999999999+}\r\nb STARTTLS\r\n"),
                .origin("b OK x\r\n"),
            ]),
        .init(
            "IMAP, SASL", "imap, login AUTHENTICATE PLAIN",
            [
                .origin("* OK x\r\n"), .client("a AUTHENTICATE plain\r\n"), .origin("+ \r\n"),
                .client("x STARTTLS\r\n"), .origin("a OK x\r\n"),
            ]),
        .init(
            "IMAP, goodbye", "imap, asks STARTTLS, refuses STARTTLS: * BYE x",
            [
                .origin("* OK x\r\n"), .client("a STARTTLS\r\n"), .origin("* BYE x\r\n"),
            ]),
        .init(
            "POP3", "pop3, offers STLS, asks STLS, SECURED by STLS",
            [
                .origin("+OK <1@a>\r\n"), .client("CAPA\r\n"),
                .origin("+OK\r\nTOP\r\nSTLS\r\n.\r\n"), .client("STLS\r\n"), .origin("+OK go\r\n"),
                .client("", rest: hello),
            ]),
        .init(
            "POP3, pipelined", "pop3, asks STLS, SECURED by STLS, INJECTED by client",
            [
                .origin("+OK x\r\n"), .client("capa\r\nstls\r\n", rest: "user x\r\n"),
                .origin("+OK\r\n+OK no\r\n.\r\n+OK go\r\n"),
            ]),
        .init(
            "POP3, refused", "pop3, asks STLS, refuses STLS: -ERR no, login PASS",
            [
                .origin("+OK x\r\n"), .client("STLS\r\n"), .origin("-ERR no\r\n"),
                .client("USER u\r\n"), .origin("+OK\r\n"), .client("PASS p\r\n"),
                .origin("+OK\r\n"),
            ]),
        .init(
            "POP3, an answer too few", "pop3, asks STLS, SECURED by STLS",
            [
                .origin("+OK x\r\n"), .client("\r\nSTLS\r\n"), .origin("+OK go\r\n"),
                .client("", rest: hello),
            ]),
        .init(
            "POP3, APOP", "pop3, login APOP without secret",
            [
                .origin("+OK <1@a>\r\n"), .client("APOP u 0123\r\n"), .origin("+OK\r\n"),
            ]),
        .init(
            "ManageSieve", "sieve, offers STARTTLS, asks STARTTLS, SECURED by STARTTLS",
            [
                .origin("\"IMPLEMENTATION\" \"x\"\r\n\"STARTTLS\"\r\nOK \"hi\"\r\n"),
                .client("STARTTLS\r\n"), .origin("OK \"go\"\r\n"), .client("", rest: hello),
            ]),
        .init(
            "ManageSieve, refused",
            "sieve, asks STARTTLS, refuses STARTTLS: NO x, login AUTHENTICATE PLAIN",
            [
                .origin("\"SIEVE\" \"x\"\r\nOK\r\n"), .client("STARTTLS\r\n"), .origin("NO x\r\n"),
                .client("AUTHENTICATE \"PLAIN\" {4+}\r\nAAAA\r\n"), .origin("OK\r\n"),
            ]),
    ]

    static let others: [UpgradeRow] = [
        .init(
            "NNTP", "nntp, offers STARTTLS, asks STARTTLS, SECURED by STARTTLS",
            [
                .origin("200 news\r\n"), .client("CAPABILITIES\r\n"),
                .origin("101 list\r\nVERSION 2\r\nSTARTTLS\r\n.\r\n"), .client("STARTTLS\r\n"),
                .origin("382 go\r\n"), .client("", rest: hello),
            ]),
        .init(
            "NNTP, refused", "nntp, asks STARTTLS, refuses STARTTLS: 580 no, login AUTHINFO PASS",
            [
                .origin("201 news\r\n"), .client("STARTTLS\r\n"), .origin("580 no\r\n"),
                .client("AUTHINFO USER u\r\n"), .origin("381 x\r\n"),
                .client("AUTHINFO PASS p\r\n"),
            ]),
        .init(
            "NNTP, answer within an article", "nntp, asks STARTTLS, refuses STARTTLS: 502 no",
            [
                .origin("200 x\r\n"), .client("ARTICLE 1\r\nSTARTTLS\r\n"),
                .origin("220 1 <a>\r\n382 no\r\n.\r\n502 no\r\n"),
            ]),
        .init(
            "IRC", "irc, offers STARTTLS, asks STARTTLS, SECURED by STARTTLS",
            [
                .client("CAP LS 302\r\n"), .origin(":a CAP * LS :sasl tls\r\n"),
                .client("STARTTLS\r\n"), .origin(":a 670 * :go\r\n"), .client("", rest: hello),
            ]),
        .init(
            "IRC, refused", "irc, asks STARTTLS, refuses STARTTLS: :a 691 n :no",
            [
                .client("NICK n\r\n"), .origin(":a NOTICE * :hi\r\n"), .client("STARTTLS\r\n"),
                .origin(":a 691 n :no\r\n"),
            ]),
    ]
}

/// Dialogues that are no lines, or none that is known.
enum OtherDialogues {
    private static let stream = "<?xml version='1.0'?><stream:stream to='a' xmlns='jabber:client'>"
    private static let features =
        "<stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>"
    private static let startTLS = "~30~1d~02~01~01~77~18~80~161.3.6.1.4.1.1466.20037"
    private static let greeting =
        "~2b~00~00~00~0a8.0.36~00~01~00~00~0012345678~00~ff~ff~21~02~00~ff~c7~15~00~00~00"
    private static let request =
        "~20~00~00~01~05~ae~ff~01~00~00~00~01~21" + String(repeating: "~00", count: 23)
    private static let ssl = "~00~00~00~08~04~d2~16~2f"
    private static let gss = "~00~00~00~08~04~d2~16~30"
    private static let startup = "~00~00~00~10~00~03~00~00user~00u~00~00"

    static let binary: [UpgradeRow] = [
        .init(
            "XMPP", "xmpp, offers starttls, asks starttls, SECURED by starttls",
            [
                .client(stream), .origin(stream + features),
                .client("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"),
                .origin("<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"),
                .client("", rest: hello),
            ]),
        .init(
            "XMPP, elements with an end",
            "xmpp, asks starttls, SECURED by starttls, INJECTED by client, INJECTED by origin",
            [
                .client(stream), .origin(stream),
                .client("<starttls a='>' ></starttls>", rest: "<iq/>"),
                .origin("<proceed></proceed >", rest: "<iq/>"),
            ]),
        .init(
            "XMPP, refused",
            "xmpp, offers starttls, asks starttls, refuses starttls: <failure/>, login auth PLAIN in spite of the offer",
            [
                .client(stream), .origin(stream + features), .client("<starttls/>"),
                .origin("<failure/>"), .client("<auth mechanism=\"PLAIN\">AHUAcA==</auth>"),
            ]),
        .init(
            "XMPP, words within a message", "xmpp",
            [
                .client(stream), .origin(stream),
                .client(
                    "<message><starttls/></message><message><body><![CDATA[<starttls/>]]></body></message>"
                ),
                .origin("<message><proceed/></message>"),
            ]),
        .init(
            "LDAP", "ldap, asks StartTLS, SECURED by StartTLS",
            [
                .client(startTLS), .origin("~30~0c~02~01~01~78~07~0a~01~00~04~00~04~00"),
                .client("", rest: hello),
            ]),
        .init(
            "LDAP, long lengths, injected",
            "ldap, asks StartTLS, SECURED by StartTLS, INJECTED by client, INJECTED by origin",
            [
                .client(
                    "~30~84~00~00~00~1d~02~01~01~77~18~80~161.3.6.1.4.1.1466.20037", rest: "~30~05"),
                .origin(
                    "~30~84~00~00~00~10~02~01~01~78~84~00~00~00~07~0a~01~00~04~00~04~00",
                    rest: "~30~0c"),
            ]),
        .init(
            "LDAP, refused",
            "ldap, asks StartTLS, refuses StartTLS: resultCode 2, login simple bind",
            [
                .client(startTLS), .origin("~30~0c~02~01~01~78~07~0a~01~02~04~00~04~00"),
                .client("~30~11~02~01~02~60~0c~02~01~03~04~03c=a~80~02pw"),
            ]),
        .init(
            "LDAP, answer to another message", "ldap, asks StartTLS, SECURED by StartTLS",
            [
                .client(startTLS), .origin("~30~0c~02~01~02~78~07~0a~01~00~04~00~04~00"),
                .origin("~30~0c~02~01~01~65~07~0a~01~00~04~00~04~00"),
                .origin("~30~0d~02~02~00~01~78~07~0a~01~00~04~00~04~00"),
            ]),
        .init(
            "LDAP, anonymous bind", "ldap",
            [
                .client("~30~0c~02~01~01~60~07~02~01~03~04~00~80~00")
            ]),
        .init(
            "LDAP, huge length", "ldap",
            [
                .client("~30~84~ff~ff~ff~ff~02~01~01~60~07~02~01~03"),
                .origin("~30~84~ff~ff~ff~ffaaa"),
                .client("~30~1d"),
            ]),
        .init(
            "LDAP, lengths within that reach beyond", "ldap",
            [
                .client("~30~0c~02~01~01~60~07~02~7f~03~04~00~80~00~30~09~02~04~01~77~18~80~161.3")
            ]),
        .init(
            "LDAP, then no LDAP", "ldap, SECURED by ClientHello",
            [
                .client("~30~0c~02~01~01~60~07~02~01~03~04~00~80~00"), .origin("HTTP/1.1"),
                .client("~00", rest: ""), .origin("x"), .client("", rest: hello),
            ]),
        .init(
            "PostgreSQL", "postgresql, asks SSLRequest, SECURED by SSLRequest",
            [
                .client(ssl), .origin("S"), .client("", rest: hello),
            ]),
        .init(
            "PostgreSQL, refused",
            "postgresql, asks SSLRequest, refuses SSLRequest: N, login PasswordMessage",
            [
                .client(ssl), .origin("N"), .client(startup), .origin("R~00~00~00~08~00~00~00~03"),
                .client("p~00~00~00~07pw~00"), .origin("R~00~00~00~08~00~00~00~00"),
            ]),
        .init(
            "PostgreSQL, an old server", "postgresql, asks SSLRequest, refuses SSLRequest: E",
            [
                .client(ssl), .origin("E"),
            ]),
        .init(
            "PostgreSQL, GSSAPI refused",
            "postgresql, asks GSSENCRequest, refuses GSSENCRequest: N, asks SSLRequest, SECURED by SSLRequest",
            [
                .client(gss), .origin("N"), .client(ssl), .origin("S"), .client("", rest: hello),
            ]),
        .init(
            "PostgreSQL, GSSAPI", "postgresql, asks GSSENCRequest, other encryption",
            [
                .client(gss), .origin("G"), .client("~00~00~01"), .origin("~00~00~02"),
            ]),
        .init(
            "PostgreSQL, injected by both",
            "postgresql, asks SSLRequest, SECURED by SSLRequest, INJECTED by client, INJECTED by origin",
            [
                .client(ssl, rest: startup), .origin("S", rest: "R~00~00~00~08~00~00~00~00"),
            ]),
        .init(
            "PostgreSQL, the hello comes early",
            "postgresql, asks SSLRequest, SECURED by SSLRequest",
            [
                .client(ssl, rest: hello), .origin("S"),
            ]),
        .init(
            "PostgreSQL, GSSAPI is not TLS",
            "postgresql, asks GSSENCRequest, refuses GSSENCRequest: S",
            [
                .client(gss), .origin("S"),
            ]),
        .init(
            "MySQL", "mysql, offers SSLRequest, asks SSLRequest, SECURED by SSLRequest",
            [
                .origin(greeting), .client(request, rest: hello),
            ]),
        .init(
            "MySQL, injected",
            "mysql, offers SSLRequest, asks SSLRequest, SECURED by SSLRequest, INJECTED by client, INJECTED by origin",
            [
                .origin(greeting), .client(request, rest: "~01~00~00~02~00"),
                .origin("", rest: "~07~00"),
            ]),
        .init(
            "MySQL, offered and not used", "mysql, offers SSLRequest",
            [
                .origin(greeting),
                .client(
                    "~24~00~00~01~05~a6~ff~01~00~00~00~01~21" + String(repeating: "~00", count: 27)),
                .origin("~07~00~00~02~00~00~00~02~00~00~00"),
            ]),
        .init(
            "MySQL, not offered", "mysql",
            [
                .origin("~2b~00~00~00~0a8.0.36~00~01~00~00~0012345678~00~ff~f7~21~02~00"),
                .client(request),
            ]),
        .init(
            "MySQL, version without end", "mysql",
            [
                .origin("~ff~03~00~00~0a8" + String(repeating: ".", count: 700)), .client(request),
            ]),
    ]
}
