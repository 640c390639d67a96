import Logins

extension LoginRow {
    package static let packets: [LoginRow] = [
        LoginRow(
            "MQTT 3.1 with a will",
            .client(
                hex: "103800064d514973647003ce001e00056369642d310003772f740003627965"
                    + "000a70726f62652e75736572000d50723062652d53336372657421e000"),
            .origin(hex: "20020000"), logins: ["mqtt CONNECT probe.user Pr0be-S3cret!"],
            answer: .accepted),
        LoginRow(
            "MQTT 3.1.1 with a will, refused",
            .client(
                hex: "103600044d51545404ce001e00056369642d310003772f740003627965"
                    + "000a70726f62652e75736572000d50723062652d53336372657421e000"),
            .origin(hex: "20020005"), logins: ["mqtt CONNECT probe.user Pr0be-S3cret!"],
            answer: .rejected),
        LoginRow(
            "MQTT 5 with a will and properties",
            .client(
                hex: "103800044d51545405ce001e0000056369642d31000003772f740003627965"
                    + "000a70726f62652e75736572000d50723062652d53336372657421e000"),
            logins: ["mqtt CONNECT probe.user Pr0be-S3cret!"]),
        LoginRow(
            "LDAP simple bind",
            .client(
                hex: "30260201016021020103040d636e3d70726f62652c64633d78800d"
                    + "50723062652d53336372657421"),
            logins: ["ldap simple bind cn=probe,dc=x Pr0be-S3cret!"]),
        LoginRow(
            "LDAP simple bind, long lengths, behind a search",
            .client(
                hex: "30050201016300" + "30840000002a020102" + "608400000021020103"
                    + "040d636e3d70726f62652c64633d78800d50723062652d53336372657421"),
            logins: ["ldap simple bind cn=probe,dc=x Pr0be-S3cret!"]),
        LoginRow(
            "LDAP, SASL PLAIN",
            .client(
                hex: "302e02010260290201030400a3220405504c41494e0419"
                    + "0070726f62652e757365720050723062652d53336372657421"),
            logins: ["ldap SASL bind PLAIN probe.user Pr0be-S3cret!"]),
        LoginRow(
            "AMQP 0-9-1, PLAIN",
            .client(
                hex: "414d515000000901" + "0100000000" + "0031" + "000a000b" + "00000000"
                    + "05504c41494e" + "00000019"
                    + "0070726f62652e757365720050723062652d53336372657421"
                    + "05656e5f5553" + "ce"),
            logins: ["amqp Start-Ok PLAIN probe.user Pr0be-S3cret!"]),
        LoginRow(
            "memcached, list of mechanisms first",
            .client(
                hex: "802000000000000000000000000000000000000000000000"
                    + "80210005000000000000001e000000000000000000000000"
                    + "504c41494e0070726f62652e757365720050723062652d53336372657421"),
            logins: ["memcached SASL PLAIN probe.user Pr0be-S3cret!"]),
        LoginRow(
            "STOMP",
            .client("STOMP\naccept-version:1.1\nlogin:probe.user\npasscode:Pr0be-S3cret!\n\n\0"),
            logins: ["stomp CONNECT probe.user Pr0be-S3cret!"]),
        LoginRow(
            "MySQL, switched to a password in cleartext",
            .origin(
                hex: "0b0000000a382e302e302d70726f62" + "16000002fe"
                    + "6d7973716c5f636c6561725f70617373776f726400"),
            .client(
                hex: "2c00000105a23a00ffffff002d" + "00000000000000000000000000000000000000000000"
                    + "00"
                    + "70726f62652e7573657200" + "00" + "0e00000350723062652d5333637265742100"),
            logins: ["mysql mysql_clear_password probe.user Pr0be-S3cret!"]),
    ]
}
