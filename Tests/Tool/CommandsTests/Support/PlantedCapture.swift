import Base
import LoginRows
import Logins
import Traffic

/// A capture that holds the same password and the same token wherever one can stand, and all rows
/// of logins.
enum PlantedCapture {
    static let password = "tr0ub4dor-Q7x!"
    static let token = "Zk3vQ9xW2pLr7Ty1Hd"

    /// What must not be shown, as it is.
    static var secrets: [String] {
        let ofRows = dialogues.flatMap { row in
            func all(_ direction: Direction) -> [UInt8] {
                row.said.filter { $0.direction == direction }.flatMap(\.bytes)
            }
            return ClearLoginReader.logins(client: all(.request), origin: all(.response))
                .map(\.secret.text)
        }
        // Others are words of other rows, or no words at all.
        let distinct = ofRows.filter { $0.utf8.count >= 8 && Set($0.utf8).count > 4 }
        return Set(distinct).sorted() + [password, token]
    }

    private static let dialogues: [(name: String, said: [Said])] =
        LoginVector.all.map { ($0.name, $0.said) } + LoginRow.logins.map { ($0.name, $0.said) }

    static func source() -> FakeTrafficSource {
        var source = FakeTrafficSource()
        source.connectionRecords.append(connection("http/1.1", exchanges: requests.count))
        for request in requests { add(request, to: &source) }
        for text in messages { addWebSocket(text, to: &source) }
        for row in dialogues {
            var record = connection("unknown", id: Int64(source.connectionRecords.count + 1))
            record.messageCount = Int64(row.said.count)
            for (number, said) in row.said.enumerated() {
                source.messageRecords.append(
                    message(record.id, nil, Int64(number + 1), said.direction, .segment, said.bytes)
                )
            }
            source.connectionRecords.append(record)
        }
        return source
    }

    // MARK: HTTP

    private struct Request {
        var line = "GET /"
        var fields: [String] = []
        var body = ""
        var responseFields: [String] = []
        var responseBody = ""
    }

    private static func base64(_ text: String) -> String { Base64.encode(Array(text.utf8)) }

    private static func percent(_ text: String) -> String {
        text.utf8.map { "%" + [$0].hex }.joined()
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.map { "\\u00" + [$0].hex }.joined()
    }

    private static let json = "Content-Type: application/json"
    private static let form = "Content-Type: application/x-www-form-urlencoded"

    private static let requests =
        requestsWithFields + requestsWithURLs + requestsWithContents + responses

    private static let requestsWithFields = [
        Request(fields: ["Authorization: Basic " + base64("nora:" + password)]),
        Request(fields: ["Authorization: Bearer " + token]),
        Request(fields: ["Authorization: " + token]),
        Request(fields: ["Proxy-Authorization: Basic " + base64("n:" + password)]),
        Request(fields: ["Cookie: theme=dark; sid=\(token)", "X-API-Key: \(token)"]),
        Request(fields: ["X-Auth-Token: \(token)", "X-Amz-Security-Token: \(token)"]),
        Request(fields: ["Authorization: Hawk id=\"a\", mac=\"\(token)\""]),
        Request(fields: ["Referer: https://a.test/x?access_token=\(token)#id_token=\(token)"]),
        Request(fields: ["X-Forwarded-Url: https://n:\(password)@a.test/?sig=\(token)"]),
    ]

    private static let requestsWithURLs = [
        Request(line: "GET /?password=\(percent(password))&x=1"),
        Request(line: "GET http://nora:\(password)@a.test/a;jsessionid=\(token)?api_key=\(token)"),
        Request(line: "GET /?data=" + percent(#"{"password":"\#(password)"}"#)),
        Request(line: "GET /?data=" + base64(#"{"password":"\#(password)"}"#)),
        Request(line: "GET /?next=" + percent("https://b.test/?access_token=" + token)),
    ]

    private static let requestsWithContents = [
        Request(line: "POST /", fields: [form], body: "user=n&password=\(percent(password))"),
        Request(line: "POST /", fields: [json], body: #"{"a":[{"password":"\#(password)"}]}"#),
        Request(
            line: "POST /", fields: [json], body: #"{"password":"\#(escaped(password))"}"#),
        Request(
            line: "POST /", fields: [json],
            body: #"{"body":"{\"password\":\"\#(password)\",\"t\":1}"}"#),
        Request(
            line: "POST /", fields: [json],
            body: #"{"body":"\#(base64(#"{"password":"\#(password)"}"#))"}"#),
        Request(line: "POST /", fields: ["Content-Type: text/plain"], body: "password=" + password),
        Request(
            line: "POST /", fields: ["Content-Type: multipart/form-data; boundary=b"],
            body: "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n\(password)\r\n"
                + "--b--\r\n"),
        Request(
            line: "POST /", fields: ["Content-Type: text/xml"],
            body: "<a><user>n</user><password>\(password)</password></a>"),
        Request(
            line: "POST /", fields: [json],
            body: #"{"query":"mutation{login(password:\"\#(password)\"){token}}"}"#),
        Request(
            line: "POST /", fields: [json],
            body: #"{"query":"mutation($p:String){a}","variables":{"password":"\#(password)"}}"#),
        Request(
            line: "POST /", fields: [json],
            body: #"{"jsonrpc":"2.0","method":"login","params":{"pwd":"\#(password)"}}"#),
    ]

    private static let responses = [
        Request(
            responseFields: ["Set-Cookie: sid=\(token); Path=/", json],
            responseBody: #"{"access_token":"\#(token)","refresh_token":"\#(token)"}"#),
        Request(responseFields: ["Location: https://a.test/cb#access_token=\(token)&state=1"]),
        Request(responseFields: ["Location: /cb?code=\(token)", "X-Auth-Token: \(token)"]),
        Request(
            responseFields: ["Content-Type: text/event-stream"],
            responseBody: "data: {\"access_token\":\"\(token)\"}\n\n"),
        Request(
            responseFields: ["Content-Type: text/html"],
            responseBody: "<form><input type=\"password\" name=\"password\" value=\"\(password)\">"
                + "<input type=hidden name=csrf_token value=\(token)></form>"),
        Request(
            responseFields: ["Content-Type: application/x-ndjson"],
            responseBody: "{\"token\":\"\(token)\"}\n{\"secret\":\"\(token)\"}\n"),
    ]

    private static func add(_ request: Request, to source: inout FakeTrafficSource) {
        let id = Int64(source.exchangeRecords.count + 1)
        var record = ExchangeRecord(
            id: id, connection: 1, startedAt: SampleCapture.start, scheme: .http,
            authority: "shop.example")
        record.requestHead = head(
            ["\(request.line) HTTP/1.1", "Host: shop.example"] + request.fields)
        record.responseHead = head(["HTTP/1.1 200 OK"] + request.responseFields)
        record.status = 200
        record.durationMicroseconds = 1000
        record.requestBody.size = Int64(request.body.utf8.count)
        record.responseBody.size = Int64(request.responseBody.utf8.count)
        source.exchangeRecords.append(record)
        source.contents[.init(exchange: id, direction: .request)] = Array(request.body.utf8)
        source.contents[.init(exchange: id, direction: .response)] = Array(
            request.responseBody.utf8)
    }

    // MARK: Messages

    private static let messages = [
        #"{"type":"login","password":"\#(password)"}"#,
        #"42["login",{"pwd":"\#(password)"}]"#, "user=n&password=\(password)",
        #"{"type":"connection_init","payload":{"Authorization":"Bearer \#(token)"}}"#,
        "CONNECT\nlogin:nora\npasscode:\(password)\n\n\0",
    ]

    /// Each on a connection of its own: what is said first tells what is spoken.
    private static func addWebSocket(_ text: String, to source: inout FakeTrafficSource) {
        let id = Int64(source.connectionRecords.count + 1)
        var connection = connection("http/1.1", exchanges: 1, id: id)
        connection.messageCount = 1
        source.connectionRecords.append(connection)
        add(Request(line: "GET /chat", fields: ["Upgrade: websocket"]), to: &source)
        let last = source.exchangeRecords.count - 1
        source.exchangeRecords[last].connection = id
        source.exchangeRecords[last].status = 101
        source.messageRecords.append(
            message(id, source.exchangeRecords[last].id, 1, .request, .text, Array(text.utf8)))
    }

    private static func message(
        _ connection: Int64, _ exchange: Int64?, _ number: Int64, _ direction: Direction,
        _ kind: MessageRecord.Kind, _ bytes: [UInt8]
    ) -> MessageRecord {
        var record = MessageRecord(
            connection: connection, exchange: exchange, number: number, at: SampleCapture.start,
            direction: direction, kind: kind)
        record.bytes = bytes
        record.size = Int64(bytes.count)
        return record
    }

    private static func connection(
        _ name: String, exchanges: Int = 0, id: Int64 = 1
    ) -> ConnectionRecord {
        var record = ConnectionRecord(
            id: id, openedAt: SampleCapture.start, client: "10.0.0.2:\(50_000 + id)",
            listener: "10.0.0.1:8080", mode: .transparent)
        record.closedAt = SampleCapture.start
        record.originHost = "shop.example"
        record.originPort = 80
        record.originAddress = "203.0.113.7:80"
        record.protocolName = name
        record.exchangeCount = Int64(exchanges)
        record.outcome = .completed
        return record
    }

    private static func head(_ lines: [String]) -> [UInt8] {
        Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}
