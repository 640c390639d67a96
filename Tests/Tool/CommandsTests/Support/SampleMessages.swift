import Base
import Traffic

/// The capture of the cases about messages: a dialogue, a WebSocket, and streams of HTTP/2.
enum SampleMessages {
    static func source() -> FakeTrafficSource {
        var source = FakeTrafficSource()
        source.connectionRecords = [mail, socket, streams]
        source.exchangeRecords = [upgrade, call, events]
        source.contents = [
            .init(exchange: 12, direction: .request): [0, 0, 0, 0, 3, 8, 150, 1],
            .init(exchange: 12, direction: .response): [1, 0, 0, 0, 2, 0x78, 0x9C],
            .init(exchange: 13, direction: .response): [UInt8](eventText.joined().utf8),
        ]
        for (number, text) in zip(1..., dialogue) {
            add(6, nil, Int64(number), .segment, [UInt8](text.utf8), &source)
        }
        addSocket(to: &source)
        addStreams(to: &source)
        return source
    }

    /// The same, as a later build spoke on the WebSocket.
    static func later() -> FakeTrafficSource {
        var source = source()
        for index in source.messageRecords.indices {
            let record = source.messageRecords[index]
            guard record.exchange == 11, record.part == 0 else { continue }
            switch record.number {
            case 1:
                let login = #"{"v":2,"type":"login","password":"pa55-werd"}"#
                source.messageRecords[index].bytes = [UInt8](login.utf8)
            case 2: source.messageRecords[index].bytes.removeLast()
            case 5: source.messageRecords[index].detail = "1000"
            default: continue
            }
            source.messageRecords[index].size = Int64(source.messageRecords[index].bytes.count)
        }
        let news = [UInt8](#"{"type":"news","token":"t0k3n"}"#.utf8)
        add(7, 11, 7, .text, news, &source)
        return source
    }

    private static let dialogue = [
        "* OK IMAP4rev1 \u{1B}[2J\r\n", "a1 STARTTLS\r\n", "a1 OK\r\n",
        "a2 LOGIN nora pa55-word\r\na3 SELECT INBOX\r\n", "a2 OK\r\n* 3 EXISTS\r\na3 OK\r\n",
    ]
    private static let eventText = [
        "data: {\"n\":1,\"token\":\"t0k3n-of-nora\"}\n\n", "event: end\ndata: bye\n\n",
    ]

    private static func addSocket(to source: inout FakeTrafficSource) {
        add(7, 11, 1, .text, [UInt8](#"{"type":"login","password":"pa55-word"}"#.utf8), &source)
        add(7, 11, 2, .binary, [UInt8](0..<40), &source)
        add(7, 11, 3, .text, [UInt8](repeating: 0x61, count: 300), &source, isLast: false)
        add(7, 11, 3, .text, [UInt8]("\nend".utf8), &source, part: 1)
        add(7, 11, 4, .ping, [], &source)
        add(7, 11, 5, .close, [], &source, detail: "1001: going \u{202E}away")
        source.messageRecords[source.messageRecords.count - 1].isTruncated = true
        source.messageRecords[source.messageRecords.count - 1].size = 9
    }

    private static func addStreams(to source: inout FakeTrafficSource) {
        add(8, 12, 1, .grpc, [], &source, offset: 0, size: 3)
        add(8, 12, 2, .grpc, [], &source, offset: 0, size: 2)
        add(8, 13, 4, .event, [], &source, offset: 0, size: Int64(eventText[0].utf8.count))
        add(
            8, 13, 6, .event, [], &source, offset: Int64(eventText[0].utf8.count),
            size: Int64(eventText[1].utf8.count))
        add(8, nil, 7, .frame, [0, 0, 0, 1], &source, detail: "GOAWAY")
    }

    /// The origin greets first on the dialogue, and the client speaks first on the others.
    private static func add(
        _ connection: Int64, _ exchange: Int64?, _ number: Int64, _ kind: MessageRecord.Kind,
        _ bytes: [UInt8], _ source: inout FakeTrafficSource, part: Int = 0, isLast: Bool = true,
        offset: Int64? = nil, size: Int64? = nil, detail: String = ""
    ) {
        let isOdd = number % 2 == 1
        var record = MessageRecord(
            connection: connection, exchange: exchange, number: number,
            at: later(number * 12_300 + Int64(part)),
            direction: isOdd == (connection == 6) ? .response : .request, kind: kind)
        record.part = part
        record.isLast = isLast
        record.bytes = bytes
        record.size = size ?? Int64(bytes.count)
        record.offset = offset
        record.detail = detail
        source.messageRecords.append(record)
    }

    private static var mail: ConnectionRecord {
        var record = connection(6, "mail.example", 143, "imap")
        record.upgrade = "STARTTLS"
        record.process = ProcessRecord(
            id: 4711, executable: "/usr/bin/fetch mail",
            commandLine: [
                "fetch mail", "--password=pa55-word", "https://nora:pa55@mail.example/", "it's",
            ])
        record.notes = [ConnectionNote("starttls-stripped", "the greeting \u{1B}[2J hid it")]
        record.messageCount = 5
        var tls = TLSRecord()
        tls.version = "TLSv1.3"
        tls.cipher = "TLS_AES_256_GCM_SHA384"
        tls.alerts = [AlertRecord(sender: .peer, fatal: false, name: "close_notify")]
        record.clientTLS = tls
        return record
    }

    private static var socket: ConnectionRecord {
        var record = connection(7, "chat.example", 443, "websocket")
        record.exchangeCount = 1
        record.messageCount = 5
        record.process = ProcessRecord(id: 4712, executable: "", commandLine: ["/opt/app/chat"])
        return record
    }

    private static var streams: ConnectionRecord {
        var record = connection(8, "api.example.com", 443, "h2")
        record.exchangeCount = 2
        record.messageCount = 5
        record.process = ProcessRecord(id: 4713, executable: "", commandLine: [])
        return record
    }

    private static func connection(
        _ id: Int64, _ host: String, _ port: UInt16, _ name: String
    ) -> ConnectionRecord {
        var record = ConnectionRecord(
            id: id, openedAt: SampleCapture.start, client: "127.0.0.1:5211\(id)",
            listener: "127.0.0.1:8080", mode: .captured)
        record.closedAt = later(1_500_000)
        record.originHost = host
        record.originPort = port
        record.originAddress = "93.184.216.34:\(port)"
        record.originReused = id == 8
        record.protocolName = name
        record.outcome = .completed
        record.closedBy = .origin
        return record
    }

    private static var upgrade: ExchangeRecord {
        exchange(11, connection: 7, "GET /chat HTTP/1.1", "HTTP/1.1 101 Switching Protocols")
    }

    private static var call: ExchangeRecord {
        var record = exchange(
            12, connection: 8, "POST /shop.Cart/Get HTTP/2.0", "HTTP/2.0 200")
        record.protocolName = "HTTP/2"
        record.stream = 5
        return record
    }

    private static var events: ExchangeRecord {
        var record = exchange(13, connection: 8, "GET /events HTTP/2.0", "HTTP/1.1 200 OK")
        record.protocolName = "HTTP/2"
        record.originProtocolName = "HTTP/1.1"
        record.stream = 7
        return record
    }

    private static func exchange(
        _ id: Int64, connection: Int64, _ request: String, _ response: String
    ) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: id, connection: connection, startedAt: later(1000), scheme: .https,
            authority: "api.example.com")
        record.requestHead = [UInt8]("\(request)\r\nhost: api.example.com\r\n\r\n".utf8)
        record.responseHead = [UInt8]("\(response)\r\n\r\n".utf8)
        record.status = id == 11 ? 101 : 200
        record.durationMicroseconds = 20_000
        return record
    }

    private static func later(_ microseconds: Int64) -> Timestamp {
        Timestamp(microseconds: SampleCapture.start.microseconds + microseconds)
    }
}
