/// Dialogues that are only named, and such as have no name.
extension OtherDialogues {
    static let named: [UpgradeRow] = [
        .init("Redis", "redis", [.client("*1\r\n$4\r\nPING\r\n"), .origin("+PONG\r\n")]),
        .init(
            "MQTT", "mqtt",
            [.client("~10~0c~00~04MQTT~04~02~00~3c~00~00"), .origin("~20~02~00~00")]),
        .init("AMQP", "amqp", [.client("AMQP~00~00~09~01")]),
        .init("SSH", "ssh", [.origin("SSH-2.0-x\r\n"), .client("SSH-2.0-y\r\n~00~00")]),
        .init("VNC", "vnc", [.origin("RFB 003.008\n"), .client("RFB 003.008\n")]),
        .init(
            "HTTP", "http",
            [.client("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), .origin("HTTP/1.1 200 OK\r\n")]),
        .init(
            "MongoDB", "mongodb",
            [.client("~4d~00~00~00~01~00~00~00~00~00~00~00~dd~07~00~00~00"), .origin("~30~00")]),
        .init(
            "MongoDB, a length that is text", "mongodb",
            [.client("A~00~00~00~01~00~00~00~00~00~00~00~d4~07~00~00~00")]),
        .init(
            "DNS over TCP", "dns",
            [.client("~00~18~ab~cd~01~00~00~01~00~00~00~00~00~00~01a~04test~00~00~01~00~01")]),
        .init(
            "DNS with a length in two pieces", "dns",
            [.client("~00~18"), .client("~00~00~01~20~00~01~00~00~00~00~00~01~01a~04test~00")]),
        .init("rlogin", "rlogin", [.client("~00bo~00nora~00xterm/38400~00"), .origin("~00")]),
        .init("rsh", "rsh", [.client("1022~00nora~00nora~00ls -l~00"), .origin("~00")]),
        .init("a line of digits", "", [.client("1022 nora\r\n"), .origin("x\r\n")]),
        .init(
            "memcached, binary", "memcached",
            [.client("~80~20" + String(repeating: "~00", count: 22))]),
        .init(
            "memcached, text", "memcached",
            [.client("set a 0 0 2\r\nhi\r\n"), .origin("STORED\r\n")]),
        .init(
            "memcached by its answer", "memcached",
            [.client("get a\r\n"), .origin("VALUE a 0 2\r\nhi\r\nEND\r\n")]),
        .init("an answer in words", "", [.client("get a\r\n"), .origin("VALUE of a\r\n")]),
        .init(
            "JSON-RPC", "jsonrpc",
            [.client("{\"id\":1,\"method\":\"mining.subscribe\",\"params\":[]}\n")]),
        .init("JSON that is no call", "", [.client("{\"method\":\"x\"}\n")]),
        .init("telnet", "telnet", [.origin("~ff~fd~18"), .client("~ff~fb~18")]),
        .init(
            "RDP, then TLS", "rdp, SECURED by ClientHello",
            [
                .client("~03~00~00~13~0e~e0~00~00"), .origin("~03~00~00~13~0e~d0"),
                .client("", rest: hello),
            ]),
        .init(
            "NATS, then TLS", "nats, SECURED by ClientHello",
            [
                .origin("INFO {\"tls_required\":true}\r\n"), .client("", rest: hello),
            ]),
        .init(
            "an unknown line, then TLS", "SECURED by ClientHello",
            [
                .client("PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n", rest: hello)
            ]),
        .init(
            "unknown lines, then TLS", "SECURED by ClientHello",
            [
                .client("upgrade please\n"), .origin("fine\n"), .client("", rest: hello),
            ]),
        .init(
            "what begins like a hello", "",
            [
                .client("upgrade please\n"), .origin("fine\n"), .client("~16~03~01~00~05~02"),
                .origin("what?\n"), .client("~16~03"), .origin("what?\n"), .client("~16"),
                .client("~03~01"),
            ]),
        .init(
            "a hello within binary data", "",
            [
                .client("~01~02"), .origin("~01"), .client("~0a" + hello), .client(hello),
            ]),
        .init(
            "unknown text for long", "",
            [
                .client(String(repeating: "what ever\n", count: 1700) + "EHLO a\nSTARTTLS\n")
            ]),
    ]
}
