import Base
import Logins

/// Terminals, databases and calls whose logins are no commands of lines.
extension LoginRow {
    package static let streams = mongoRows + remoteRows + callRows + memcachedRows
}

let quietStreamRows: [LoginRow] = [
    LoginRow("MongoDB without a login", .client(message([("find", .text("users"))]))),
    LoginRow(
        "MongoDB, a certificate",
        .client(message([("authenticate", .number(1)), ("user", .text("CN=nora"))]))),
    LoginRow(
        "MongoDB, half of SCRAM",
        .client(
            message([
                ("saslStart", .number(1)), ("mechanism", .text("SCRAM-SHA-256")),
                ("payload", .data("n,,n=nora,r=abc")),
            ]))),
    LoginRow("MongoDB, compressed", .client(framed(2012, "~dd~07~00~00pwd"))),
    LoginRow(
        "MongoDB, a greeting inside of one another",
        .client(
            message([
                ("hello", .number(1)),
                (
                    "speculativeAuthenticate",
                    .document([
                        ("speculativeAuthenticate", .document([("createUser", .text("nora"))]))
                    ])
                ),
            ]))),
    LoginRow(
        "rlogin that is believed", .client("\0bo\0nora\0xterm/38400\0ls\r"),
        .origin("\0Last login: today\r\n$ ls\r\nfiles\r\n$ ")),
    LoginRow("rsh", .client("1022\0nora\0nora\0ls -l\0"), .origin("\0total 0\n")),
    LoginRow("rsh as another user", .client("\0nora\0root\0rcp -f x\0"), .origin("\0")),
    LoginRow(
        "a call with a list of names",
        .client("{\"method\":\"chat.join\",\"params\":[\"nora\",\"garden\"]}\n")),
    LoginRow("rsh of an odd name", .client("1022\0n&b\0n&b\0ls\0"), .origin("\0")),
    LoginRow(
        "a call that tells of what has passed",
        .client("{\"method\":\"report\",\"params\":{\"test\":\"a\",\"pass\":\"yes\"}}\n")),
    LoginRow(
        "memcached, a text by the name of a login", .client("set auth 0 0 10\r\nall is wel\r\n"),
        .origin("STORED\r\n")),
    LoginRow(
        "memcached, what ends by the name of a login",
        .client("set auth 0 60 11\r\nhello world\r\n"), .origin("STORED\r\n")),
    LoginRow(
        "a call whose password is elsewhere",
        .client("{\"password\":\"s3cret\",\"method\":\"mining.subscribe\",\"params\":[]}\n")),
    LoginRow(
        "a word of a call in a list below",
        .client("{\"method\":\"personal_newAccount\",\"params\":[[\"a\"],{\"b\":\"c\"},7]}\n")),
    LoginRow(
        "JSON that is no call",
        .client("{\"user\":\"nora\",\"password\":\"s3cret\",\"method\":1}\n")),
    LoginRow("memcached, two words", .client("set greeting 0 0 11\r\nhello world\r\n")),
    LoginRow(
        "memcached, a key alone", .client("set auth 0 0 5\r\nhello\r\n"), .origin("STORED\r\n")),
    LoginRow(
        "memcached, later words", .client("get auth\r\nset a 0 0 3\r\nx y\r\n"),
        .origin("END\r\nSTORED\r\n")),
    LoginRow(
        "text with the words of prompts", .client("hello\r\nthere\r\n"),
        .origin("Login: see the manual\r\nPassword: as above\r\n")),
    LoginRow("a prompt of whom nothing is known", .client("s3cret\r\n"), .origin("Password: \r\n")),
]

private let mongoRows: [LoginRow] = [
    LoginRow(
        "MongoDB, PLAIN, behind another command",
        .client(
            message([("ping", .number(1))])
                + message([
                    ("saslStart", .number(1)), ("mechanism", .text("PLAIN")),
                    ("payload", .data("\0probe.user\0Pr0be-S3cret!")),
                ])),
        logins: ["mongodb SASL PLAIN probe.user Pr0be-S3cret!"]),
    LoginRow(
        "MongoDB, SCRAM that begins in the greeting",
        .client(
            query([
                ("isMaster", .number(1)),
                (
                    "speculativeAuthenticate",
                    .document([
                        ("saslStart", .number(1)), ("mechanism", .text("SCRAM-SHA-256")),
                        ("payload", .data("n,,n=probe.user,r=abc")),
                    ])
                ),
            ])
                + message([
                    ("saslContinue", .number(1)), ("conversationId", .number(1)),
                    ("payload", .data("c=biws,r=abcdef,p=MTIzNDU2Nzg=")),
                ])),
        logins: ["mongodb SCRAM probe.user c=biws,r=abcdef,p=MTIzNDU2Nzg="]),
    LoginRow(
        "MongoDB, the older challenge",
        .client(
            query([
                ("authenticate", .number(1)), ("user", .text("nora")),
                ("key", .text("0123456789abcdef0123456789abcdef")),
            ])), logins: ["mongodb MONGODB-CR nora 0123456789abcdef0123456789abcdef"]),
    LoginRow(
        "MongoDB, a user is made",
        .client(message([("createUser", .text("bo")), ("pwd", .text("Pr0be-S3cret!"))])),
        logins: ["mongodb createUser bo Pr0be-S3cret!"]),
]

private let remoteRows: [LoginRow] = [
    LoginRow(
        "rlogin",
        .client([0] + Array("bo\0nora\0xterm/38400\0".utf8)), .origin("\0Password: "),
        .client(
            [0xFF, 0xFF, 0x73, 0x73, 0, 24, 0, 80, 0, 0, 0, 0] + Array("s3cx\u{7F}ret!\r".utf8)),
        logins: ["rlogin a prompt nora s3cret!"]),
    LoginRow(
        "rlogin, a name is asked for again", .client("\0bo\0nora\0vt100/9600\0"),
        .origin("\0login: \r\nPassword: "), .client("root\rs3cret\r"),
        logins: ["rlogin a prompt root s3cret"]),
    LoginRow(
        "rlogin that is believed, a password later",
        .client("\0bo\0nora\0xterm/38400\0su\rPr0be-S3cret!\r"),
        .origin("\0$ su\r\nPassword: "),
        logins: ["rlogin a prompt nora Pr0be-S3cret!"]),
    LoginRow(
        "rexec", .client("1019\0nora\0Pr0be-S3cret!\0uptime\0"), .origin("\0"),
        logins: ["rexec username/password nora Pr0be-S3cret!"]),
    LoginRow(
        "rexec without a port, refused", .client("\0nora\0s3cret\0uptime\0"),
        .origin("\u{1}Login incorrect.\n"), logins: ["rexec username/password nora s3cret"]),
    LoginRow(
        "a terminal from the middle", .client("nora\r\ns3cret\r\nls\r\n"),
        .origin("\r\nhost login: nora\r\nPassword: \r\nLast login: never\r\n$ ls\r\n"),
        logins: ["telnet a prompt nora s3cret"]),
]

private let callRows: [LoginRow] = [
    LoginRow(
        "a miner",
        .client(
            "{\"id\":1,\"method\":\"mining.subscribe\",\"params\":[\"cpuminer/2.5\"]}\n"
                + "{\"id\":2,\"method\":\"mining.authorize\",\"params\":[\"nora.1\",\"s3cret\"]}\n"),
        .origin("{\"id\":2,\"result\":true}\n"), logins: ["jsonrpc a call nora.1 s3cret"]),
    LoginRow(
        "a miner's login by names, from the middle",
        .client(
            "d\":7}\n{\"params\":{\"login\":\"nora\",\"pass\":\"s3\\\"cret\"},\"method\":\"login\"}\n"
        ), logins: ["jsonrpc a call nora s3\"cret"]),
    LoginRow(
        "wallets",
        .client(
            "{\"method\":\"personal_unlockAccount\",\"params\":[\"0xab\",\"Pr0be-S3cret!\",30]}"
                + "{\"method\":\"personal_sendTransaction\","
                + "\"params\":[{\"from\":\"0xab\",\"to\":[\"c\"]},\"Pr0be-S3cret!\"]}"),
        logins: ["jsonrpc a call 0xab Pr0be-S3cret!", "jsonrpc a call - Pr0be-S3cret!"]),
]

private let memcachedRows: [LoginRow] = [
    LoginRow(
        "memcached, text", .client("set auth 0 0 18\r\nnora Pr0be-S3cret!\r\n"),
        .origin("STORED\r\n"), logins: ["memcached set nora Pr0be-S3cret!"], answer: .accepted),
    LoginRow(
        "memcached, text, refused and then taken",
        .client("get a\r\nset k 0 0 6 \r\nbo s3c\r\nset k 0 0 11\r\nnora s3cret\r\n"),
        .origin(
            "CLIENT_ERROR unauthenticated\r\nCLIENT_ERROR authentication failure\r\nSTORED\r\n"),
        logins: ["memcached set bo s3c", "memcached set nora s3cret"], answer: .rejected),
]

// MARK: Messages of MongoDB

private enum Value {
    case number(UInt8)
    case text(String)
    case data(String)
    case document([(String, Value)])
}

private func bytes(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

private func document(_ elements: [(String, Value)]) -> [UInt8] {
    var body: [UInt8] = []
    for (name, value) in elements {
        let name = Array(name.utf8) + [0]
        switch value {
        case .number(let number): body += [0x10] + name + [number, 0, 0, 0]
        case .text(let text):
            body += [0x02] + name + bytes(text.utf8.count + 1) + Array(text.utf8) + [0]
        case .data(let text):
            body += [0x05] + name + bytes(text.utf8.count) + [0] + Array(text.utf8)
        case .document(let inner): body += [0x03] + name + document(inner)
        }
    }
    return bytes(body.count + 5) + body + [0]
}

private func framed(_ code: Int, _ body: [UInt8]) -> [UInt8] {
    bytes(body.count + 16) + [7, 0, 0, 0, 0, 0, 0, 0] + bytes(code) + body
}

private func framed(_ code: Int, _ body: String) -> [UInt8] { framed(code, Array(body.utf8)) }

private func message(_ elements: [(String, Value)]) -> [UInt8] {
    framed(2013, [0, 0, 0, 0, 0] + document(elements))
}

private func query(_ elements: [(String, Value)]) -> [UInt8] {
    framed(
        2004,
        [0, 0, 0, 0] + Array("admin.$cmd\0".utf8) + [0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]
            + document(elements))
}
