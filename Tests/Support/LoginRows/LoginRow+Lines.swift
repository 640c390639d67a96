import Logins

extension LoginRow {
    package static let lines: [LoginRow] = [
        LoginRow(
            "FTP with spaces, refused", .origin("220 files\r\n"), .client("USER nora\r\n"),
            .origin("331 ?\r\n"), .client("PASS a b \r\n"), .origin("530 no\r\n"),
            logins: ["ftp PASS nora a b "], answer: .rejected),
        LoginRow(
            "FTP, a guest's name with a password", .origin("220 files\r\n"),
            .client("user ftp\r\npass s3cret\r\n"), .origin("331 ?\r\n230 in\r\n"),
            logins: ["ftp PASS ftp s3cret"], answer: .accepted),
        LoginRow(
            "POP3, two tries", .origin("+OK\r\n"),
            .client("USER nora\r\nPASS one\r\nUSER nora\r\nPASS two\r\n"),
            .origin("+OK\r\n-ERR\r\n+OK\r\n+OK\r\n"),
            logins: ["pop3 PASS nora one", "pop3 PASS nora two"]),
        LoginRow(
            "SMTP, a token", .origin("220 mx\r\n"),
            .client(
                "EHLO a\r\nAUTH XOAUTH2 dXNlcj1ub3JhAWF1dGg9QmVhcmVyIHRvay4xMjMBAQ==\r\n"),
            .origin("250 mx\r\n235 ok\r\n"), logins: ["smtp AUTH XOAUTH2 nora tok.123"],
            answer: .accepted),
        LoginRow(
            "LMTP", .origin("220 a LMTP\r\n"),
            .client("LHLO a\r\nAUTH PLAIN AG5vcmEAczNjcmV0LTc=\r\n"),
            .origin("250 a\r\n235 ok\r\n"), logins: ["lmtp AUTH PLAIN nora s3cret-7"],
            answer: .accepted),
        LoginRow(
            "SMTP, a mail that tells of logins", .origin("220 mx\r\n"),
            .client(
                "EHLO a\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\nAUTH PLAIN AG4AcA==\r\n.\r\n"
                    + "QUIT\r\n"), .origin("250 a\r\n250 b\r\n250 c\r\n354 go\r\n250 d\r\n")),
        LoginRow(
            "SMTP, a login that is cancelled", .origin("220 mx\r\n"),
            .client("EHLO a\r\nAUTH LOGIN\r\nbm9yYQ==\r\n*\r\nQUIT\r\n"),
            .origin("250 a\r\n334 x\r\n334 y\r\n501 ok\r\n")),
        LoginRow(
            "IMAP, literals", .origin("* OK\r\n"),
            .client("a1 LOGIN {4}\r\nnora {6+}\r\ns3\r\n x\r\na2 NOOP\r\n"),
            .origin("+ go\r\na1 OK\r\n"), logins: ["imap LOGIN nora s3\r\n x"]),
        LoginRow(
            "IMAP, a mail that tells of logins", .origin("* OK\r\n"),
            .client("a1 APPEND in {17}\r\na2 LOGIN nora s3\r\n\r\na3 LOGOUT\r\n")),
        LoginRow(
            "NNTP", .origin("200 news\r\n"),
            .client("AUTHINFO USER nora\r\nAUTHINFO PASS s3 cret\r\n"),
            .origin("381 ?\r\n281 in\r\n"), logins: ["nntp AUTHINFO PASS nora s3 cret"],
            answer: .accepted),
        LoginRow(
            "ManageSieve", .origin("\"IMPLEMENTATION\" \"x\"\r\nOK\r\n"),
            .client("AUTHENTICATE \"PLAIN\" \"AG5vcmEAczNjcmV0\"\r\n"),
            logins: ["sieve AUTHENTICATE PLAIN nora s3cret"]),
        LoginRow(
            "IRC", .origin(":irc 001 nora :hi\r\n"),
            .client(
                "CAP LS\r\nPASS :s3cret\r\nNICK nora\r\nUSER n 0 * :Nora\r\n"
                    + "PRIVMSG NickServ :IDENTIFY nora s3\r\nNS IDENTIFY s4\r\nOPER bo s5\r\n"),
            logins: [
                "irc PASS - s3cret", "irc IDENTIFY nora s3", "irc IDENTIFY - s4", "irc OPER bo s5",
            ]),
        LoginRow(
            "IRC, SASL", .client("NICK nora\r\nUSER n 0 * :N\r\nAUTHENTICATE PLAIN\r\n"),
            .origin(":irc NOTICE * :x\r\nAUTHENTICATE +\r\n"),
            .client("AUTHENTICATE AG5vcmEAczNjcmV0\r\n"),
            logins: ["irc AUTHENTICATE PLAIN nora s3cret"]),
        LoginRow(
            "telnet, letter by letter",
            .origin("\r\nhost login: nora\r\nPassword: \r\nLast login: never\r\n"),
            .client([0xFF, 0xFB, 0x18] + Array("noz\u{7F}ra\r\0s3 cret\r\n".utf8)),
            logins: ["telnet a prompt nora s3 cret"]),
        LoginRow(
            "RTSP",
            .client(
                "DESCRIBE rtsp://cam/1 RTSP/1.0\r\nCSeq: 2\r\nAuthorization: Basic bm9yYTpzMw==\r\n\r\n"
            ),
            .origin("RTSP/1.0 200 OK\r\n\r\n"), logins: ["rtsp Basic nora s3"]),
        LoginRow(
            "XMPP, the older way",
            .client(
                "<stream:stream to='a'><iq type='set'><query xmlns='jabber:iq:auth'><username>nora"
                    + "</username><password>s3</password></query></iq>"),
            logins: ["xmpp jabber:iq:auth nora s3"]),
        LoginRow(
            "a mail that tells of SIP hides no login", .origin("220 mx\r\n"),
            .client(
                "EHLO a\r\nAUTH PLAIN AG5vcmEAczM=\r\nDATA\r\nREGISTER sip:x SIP/2.0\r\n"
                    + "Authorization: Digest username=\"u\", response=\"1\"\r\n.\r\n"),
            .origin("250 a\r\n235 b\r\n354 c\r\n250 d\r\n"), logins: ["smtp AUTH PLAIN nora s3"],
            answer: .accepted),
        LoginRow(
            "an answer in another protocol's words", .client(resp("AUTH", "s3cret")),
            .origin("RFB 003.008\n"), logins: ["redis AUTH - s3cret"]),
        LoginRow(
            "an answer that begins as telnet's", .client("NICK n\r\nUSER n 0 * :N\r\nPASS s3\r\n"),
            .origin([0xFF, 0xF1]), logins: ["irc PASS - s3"]),
        LoginRow(
            "a greeting in other protocols' words", .origin("220-* OK\r\n530 no\r\n220 in\r\n"),
            .client("USER nora\r\nPASS s3\r\n"), .origin("331 a\r\n230 b\r\n"),
            logins: ["ftp PASS nora s3"], answer: .accepted),
        LoginRow(
            "POP3, whose greeting Redis would send", .origin("+OK\r\n"),
            .client("AUTH PLAIN\r\nAG5vcmEAczM=\r\n"), .origin("+ \r\n+OK\r\n"),
            logins: ["pop3 AUTH PLAIN nora s3"]),
        LoginRow(
            "a server's words are nobody's login", .origin("220 a\r\n"), .client("FEAT\r\n"),
            .origin("230 Login successful.\r\n530 Login incorrect.\r\n")),
    ]
}
