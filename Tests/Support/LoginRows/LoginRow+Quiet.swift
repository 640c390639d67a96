extension LoginRow {
    package static let quiet = quietRows + quietStreamRows

    private static let quietRows: [LoginRow] = [
        LoginRow("Redis without a login", .client(resp("SET", "auth", "x")), .origin("+OK\r\n")),
        LoginRow("Redis, an empty password", .client(resp("AUTH", ""))),
        LoginRow("Redis, AUTH as a value", .client(resp("SET", "HELLO", "3", "AUTH", "u", "p"))),
        LoginRow("Redis, a count that cannot be", .client("*99999999999\r\n$4\r\nAUTH\r\n")),
        LoginRow("typed, but the answer is no Redis", .client("AUTH x\r\n"), .origin("250 ok\r\n")),
        LoginRow("the origin speaks first", .origin("+OK ready\r\n"), .client("AUTH secret\r\n")),
        LoginRow("MQTT without a password", .client(hex: "101100044d5154540402001e00056369642d31")),
        LoginRow(
            "MQTT, a name alone",
            .client(hex: "101d00044d51545404820 01e00056369642d31000a70726f62652e75736572")),
        LoginRow("MQTT, level 9", .client(hex: "103600044d51545409ce001e00056369642d31")),
        LoginRow("LDAP, anonymous", .client(hex: "300c020101600702010304008000")),
        LoginRow(
            "LDAP, StartTLS before the bind",
            .client(
                hex: "301d02010177188016312e332e362e312e342e312e313436362e3230303337"
                    + "30260201016021020103040d636e3d70726f62652c64633d78800d"
                    + "50723062652d53336372657421")),
        LoginRow(
            "LDAP, SASL by another mechanism",
            .client(hex: "301602010160110201030400a30a040845585445524e414c")),
        LoginRow("STOMP without a passcode", .client("CONNECT\nlogin:x\n\n\0")),
        LoginRow("an HTTP request", .client("CONNECT a:1 HTTP/1.1\r\n\r\n")),
        LoginRow("nothing", .client([])),
        LoginRow(
            "MySQL's own scramble",
            .origin(hex: "0b0000000a382e302e302d70726f62" + "0700000200000002000000"),
            .client(
                hex: "2c00000105a23a00ffffff002d" + "00000000000000000000000000000000000000000000"
                    + "00"
                    + "70726f62652e7573657200" + "00" + "0e00000350723062652d5333637265742100")),
    ]
}
