internal import Base
internal import Findings
internal import Logins
internal import Negotiation
internal import Redaction
internal import Traffic

extension FuzzedReader {
    static let dialogues: [FuzzedReader] = [upgrade, logins, redaction]

    /// What is watched for a switch to TLS.
    private static let upgradeSeeds: [[UInt8]] = [
        Turns.seed(
            "<220 mail.example ESMTP\r\n", ">EHLO a\r\n",
            "<250-mail.example\r\n250-AUTH PLAIN\r\n250 STARTTLS\r\n", ">STARTTLS\r\n",
            "<220 go ahead\r\n", ">\u{16}\u{3}\u{1}\u{0}"),
        Turns.seed(
            "<220 x\r\n", ">EHLO a\r\n", "<250 AUTH LOGIN\r\n", ">AUTH LOGIN\r\n",
            "<334 VXNlcg==\r\n",
            ">dTp\r\n", "<535 no\r\n", ">MAIL FROM:<a@b>\r\nDATA\r\n", "<250 ok\r\n354 go\r\n",
            ">x\r\n.\r\n", "<250 done\r\n"),
        Turns.seed(
            "<* OK [CAPABILITY IMAP4rev1 STARTTLS] hi\r\n", ">a1 STARTTLS\r\n", "<a1 OK begin\r\n"),
        Turns.seed(">a LOGIN {4}\r\n", "<+ go\r\n", ">user {3+}\r\npwd\r\n", "<a OK\r\n"),
        Turns.seed(
            "<+OK POP3\r\n", ">CAPA\r\n", "<+OK\r\nSTLS\r\n.\r\n", ">STLS\r\n", "<-ERR no\r\n"),
        Turns.seed("<220 FTP\r\n", ">AUTH TLS\r\n", "<234 ok\r\n"),
        Turns.seed("<:irc NOTICE * :hi\r\n", ">CAP LS 302\r\nSTARTTLS\r\n", "<:irc 670 x :ok\r\n"),
        Turns.seed(
            "><?xml version='1.0'?><stream:stream to='a' xmlns='jabber:client' version='1.0'>",
            "<<stream:stream id='1'><stream:features><starttls xmlns='urn:ietf:params:xml:ns:"
                + "xmpp-tls'><required/></starttls></stream:features>",
            "><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>",
            "<<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"),
        said(
            (true, [0, 0, 0, 8, 4, 0xD2, 0x16, 0x2F]), (false, [0x53]),
            (true, [0x16, 3, 1, 0, 5, 1])),
        said(
            (true, [0, 0, 0, 22, 0, 3, 0, 0] + Array("user\0a\0\0\0\0\0".utf8)),
            (false, [0x52, 0, 0, 0, 8, 0, 0, 0, 3]), (true, [0x70, 0, 0, 0, 6, 0x70, 0])),
        said(
            (
                true,
                [0x30, 0x1D, 2, 1, 1, 0x77, 0x18, 0x80, 0x16]
                    + Array("1.3.6.1.4.1.1466.20037".utf8)
            ),
            (false, [0x30, 0x0C, 2, 1, 1, 0x78, 7, 10, 1, 0, 4, 0, 4, 0])),
        said(
            (
                false,
                [0x2E, 0, 0, 0, 10] + Array("8.0.1\0".utf8) + [1, 0, 0, 0]
                    + [UInt8](repeating: 0x41, count: 8) + [
                        0, 0xFF, 0xFF, 33, 2, 0, 0xFF, 0xC1, 21,
                    ]
                    + [UInt8](repeating: 0, count: 10) + [UInt8](repeating: 0x42, count: 8)
            ), (true, [0x20, 0, 0, 1, 0, 8, 0, 0] + [UInt8](repeating: 0, count: 28))),
        Turns.seed("<200 news\r\n", ">STARTTLS\r\n", "<382 go\r\n"),
        Turns.seed("<\"SASL\" \"PLAIN\"\r\n\"STARTTLS\"\r\nOK\r\n", ">STARTTLS\r\n", "<OK\r\n"),
    ]

    private static func said(_ turns: (isClient: Bool, bytes: [UInt8])...) -> [UInt8] {
        var bytes: [UInt8] = []
        for turn in turns { Turns.append(turn.bytes, isClient: turn.isClient, to: &bytes) }
        return bytes
    }

    private static let upgradeWords = [
        "STARTTLS\r\n", "220 ", "250-", "334 ", "\r\n", "AUTH PLAIN ", "{5}\r\n", "a1 ", "OK",
        "+OK\r\n", "-ERR", "STLS", "<starttls", "<proceed", "/>", "<![CDATA[", "]]>", "<!--", "-->",
        "DATA\r\n", ".\r\n", "BDAT 5 LAST\r\n", "CAP REQ :tls", "AUTHENTICATE",
    ]

    private static let upgrade = FuzzedReader(
        "starttls-dialogue", words: upgradeWords, seeds: { upgradeSeeds },
        run: { bytes, cut, transcript in
            var dialogue = WatchedDialogue()
            for turn in Turns.read(bytes) {
                cut.pieces(of: turn.bytes) { piece in
                    dialogue.take(bytes[piece], isClient: turn.isClient)
                    return true
                }
            }
            dialogue.note(in: &transcript)
        })

    /// What findings are made of; the segments may be cut anywhere.
    private static let logins = FuzzedReader(
        "login-dialogue",
        seeds: {
            [
                Turns.seed(">*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$1\r\np\r\n", "<+OK\r\n"),
                Turns.seed(">AUTH secret\r\n", "<+OK\r\n"),
                Turns.seed(
                    ">CONNECT\nlogin:u\npasscode:p\n\n\u{0}", "<CONNECTED\nversion:1.2\n\n\u{0}"),
                said(
                    (
                        true,
                        [
                            0x10, 18, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 0xC2, 0, 60, 0, 0, 0, 1,
                            0x75, 0,
                        ]
                            + [1, 0x70]
                    ), (false, [0x20, 2, 0, 0])),
                said((true, [0x30, 16, 2, 1, 1, 0x60, 11, 2, 1, 3, 4, 1, 0x75, 0x80, 3, 1, 2, 3])),
                said((true, [0x80, 0x21, 0, 5, 0, 0, 0, 0, 0, 0, 0, 9] + [UInt8](0..<20))),
                said(
                    (true, Array("AMQP\0\0\u{9}\u{1}".utf8)),
                    (true, [1, 0, 0, 0, 0, 0, 12, 0, 10, 0, 11] + Array("PLAIN".utf8) + [0xCE])),
            ] + upgradeSeeds
        },
        run: { bytes, cut, transcript in
            var messages = GatheredMessages()
            var connection = ConnectionRecord(
                id: 1, openedAt: Timestamp(microseconds: 0), client: "127.0.0.1:1",
                listener: "127.0.0.1:2", mode: .reverse)
            var number: Int64 = 0
            for turn in Turns.read(bytes) {
                cut.pieces(of: turn.bytes) { piece in
                    number += 1
                    var record = MessageRecord(
                        connection: 1, exchange: nil, number: number,
                        at: Timestamp(microseconds: number),
                        direction: turn.isClient ? .request : .response, kind: .segment)
                    record.bytes = Array(bytes[piece])
                    record.size = Int64(piece.count)
                    return messages.add(record)
                }
            }
            connection.messageCount = number
            connection.outcome = .completed
            var engine = FindingsEngine(Sample.findings)
            for finding in engine.observe(connection, messages: messages) {
                transcript.note("finding", text: "\(finding.rule)")
            }
        })

    /// Secrets are masked in what is shown, whatever is said.
    private static let redaction = FuzzedReader(
        "redaction", isCut: false,
        words: ["password", "\"token\":", "Authorization: ", "&secret=", "Bearer ", "eyJ", "\r\n"],
        seeds: {
            [
                [0] + Array("GET /?token=1 HTTP/1.1\r\nAuthorization: Basic dTpw\r\n\r\n".utf8),
                [1] + Array(#"{"password":"x","list":[{"token":"\u0041"}],"n":1e9}"#.utf8),
                [2] + Array("user=a&password=b&c".utf8),
                [3] + Array("https://u:p@h/a;jsessionid=1?key=v#access_token=2".utf8),
                [5]
                    + Array(
                        ("--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nx\r\n"
                            + "--b--\r\n").utf8),
            ] + upgradeSeeds.map { [4] + $0 }
        },
        run: { bytes, _, transcript in
            guard let first = bytes.first else { return }
            let rest = Array(bytes.dropFirst())
            switch first % 6 {
            case 0:
                transcript.note("head", HeadRedaction.redact(head: rest))
                transcript.note("trailers", HeadRedaction.redact(trailers: rest))
            case 1, 2, 5:
                let types: [StaticString] = [
                    "application/json", "application/x-www-form-urlencoded",
                    "multipart/form-data; boundary=b",
                ]
                let type = types[first % 6 == 5 ? 2 : Int(first % 6) - 1]
                let outcome = ContentRedaction.redact(
                    rest, types: [Array(type.description.utf8)[...]], isWhole: first & 8 == 0)
                if case .understood(let shown) = outcome { transcript.note("content", shown) }
            case 3: transcript.note("url", URLRedaction.redact(rest))
            default: redactDialogue(rest, first, &transcript)
            }
        })

    private static func redactDialogue(
        _ bytes: [UInt8], _ choice: UInt8, _ transcript: inout Transcript
    ) {
        let names = ["", "postgresql", "mysql", "smtp"]
        var messages = GatheredMessages()
        let records = Turns.read(bytes).enumerated().map { index, turn in
            var record = MessageRecord(
                connection: 1, exchange: nil, number: Int64(index + 1),
                at: Timestamp(microseconds: 0), direction: turn.isClient ? .request : .response,
                kind: choice & 64 == 0 ? .segment : .text)
            record.size = Int64(turn.bytes.count)
            record.bytes = Array(bytes[turn.bytes])
            _ = messages.add(record)
            return record
        }
        var redaction = MessageRedaction(
            protocolName: names[Int(choice / 6) % names.count],
            logins: LoginRanges(messages))
        for record in records {
            transcript.note("shown", redaction.redact(record.bytes, of: record))
        }
    }
}

/// Both directions of a dialogue as a relay holds them: what must wait is presented again.
private struct WatchedDialogue {
    private var machine = UpgradeMachine()
    private var waiting: [UInt8] = []
    private var facts: [UpgradeFact] = []
    /// What went on in plain, by side.
    private var client = Transcript()
    private var origin = Transcript()
    private var isOver = false

    mutating func take(_ bytes: ArraySlice<UInt8>, isClient: Bool) {
        guard !isOver else { return }
        if isClient {
            waiting += bytes
            presentClient()
        } else {
            let span = bytes.span
            let step = machine.origin(span)
            Oracle.check(step.forward <= bytes.count, "more goes on than came")
            origin.append(span.extracting(0..<step.forward))
            facts += step.facts
            if case .forwardThenSecure = step.next { isOver = true }
            if !isOver, !machine.isAwaitingOrigin { presentClient() }
        }
    }

    private mutating func presentClient() {
        guard !waiting.isEmpty else { return }
        let presented = waiting
        let span = presented.span
        let step = machine.client(span)
        Oracle.check(step.forward <= waiting.count, "more goes on than came")
        Oracle.check(
            step.next != .needMore || waiting.count - step.forward <= 5, "too much is held back")
        client.append(span.extracting(0..<step.forward))
        waiting.removeFirst(step.forward)
        facts += step.facts
        if case .forwardThenSecure = step.next { isOver = true }
    }

    func note(in transcript: inout Transcript) {
        for fact in facts { transcript.note("fact", text: "\(fact)") }
        transcript.note("protocol", text: machine.protocolName ?? "")
        transcript.note("secured", text: machine.securedBy ?? "")
        transcript.note("client", Int(truncatingIfNeeded: client.digest))
        transcript.note("origin", Int(truncatingIfNeeded: origin.digest))
    }
}
