import Logins

extension LoginRow {
    package static let redis: [LoginRow] = [
        LoginRow(
            "redis-py, two commands behind it",
            .client(
                resp("AUTH", "probe.user", "Pr0be-S3cret!") + resp("CLIENT", "SETINFO", "LIB-NAME")),
            .origin("+OK\r\n+OK\r\n"), logins: ["redis AUTH probe.user Pr0be-S3cret!"],
            answer: .accepted),
        LoginRow(
            "password alone, refused", .client(resp("auth", "Pr0be-S3cret!")),
            .origin("-WRONGPASS no\r\n"), logins: ["redis AUTH - Pr0be-S3cret!"],
            answer: .rejected),
        LoginRow(
            "HELLO with AUTH", .client(resp("HELLO", "3", "AUTH", "probe.user", "Pr0be-S3cret!")),
            .origin("%1\r\n+server\r\n"), logins: ["redis HELLO probe.user Pr0be-S3cret!"],
            answer: .accepted),
        LoginRow(
            "later in a pipeline",
            .client(
                resp("PING") + resp("AUTH", "a b\r\nc") + resp("CONFIG", "SET", "masterauth", "m1")),
            .origin("+PONG\r\n"), logins: ["redis AUTH - a b\r\nc", "redis CONFIG SET - m1"]),
        LoginRow(
            "other commands with passwords",
            .client(
                resp("ACL", "SETUSER", "bo", "on", ">s1")
                    + resp("config", "set", "requirepass", "s2")
                    + resp("MIGRATE", "h", "1", "", "0", "9", "AUTH2", "bo", "s3")
                    + resp("MIGRATE", "h", "1", "k", "0", "9", "AUTH", "s4")),
            logins: [
                "redis ACL SETUSER bo s1", "redis CONFIG SET - s2", "redis MIGRATE bo s3",
                "redis MIGRATE - s4",
            ]),
        LoginRow(
            "typed", .client("AUTH Pr0be-S3cret!\r\n"), .origin("+OK\r\n"),
            logins: ["redis AUTH - Pr0be-S3cret!"], answer: .accepted),
    ]
}

func resp(_ words: String...) -> String {
    "*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
}
