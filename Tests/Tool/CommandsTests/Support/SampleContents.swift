import Base
import TestConditions
import Traffic

/// The capture of the cases about contents: one exchange for each way in which one is shown.
enum SampleContents {
    static func source() -> FakeTrafficSource {
        var source = FakeTrafficSource()
        add(
            1, ("application/json", #"{"user":"nora","auth":{"password":"pa55-word","n":1}}"#),
            ("application/json", #"{"access_token":"t0k3n-of-nora","expires":3600}"#), &source)
        add(
            2,
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nnora\r\n"
                    + "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\npa55-word\r\n"
                    + "--b--\r\n"
            ), ("text/html", "<p>Welcome, nora</p>\n"), &source)
        add(
            3, ("application/json", #"{"password":"pa55-word""#),
            ("application/x-www-form-urlencoded", "access_token: t0k3n-of-nora"), &source)
        add(
            4, ("application/x-www-form-urlencoded", "user=nora&password=pa55-word"),
            ("application/json\r\nContent-Encoding: rot13", #"{"cnffjbeq":"k"}"#), &source,
            isDeflated: true)
        return source
    }

    private typealias Content = (type: String, text: String)

    private static func add(
        _ id: Int64, _ request: Content, _ response: Content, _ source: inout FakeTrafficSource,
        isDeflated: Bool = false
    ) {
        var record = ExchangeRecord(
            id: id, connection: 1, startedAt: SampleCapture.start, scheme: .https,
            authority: "api.example.com")
        let coding = isDeflated ? "Content-Encoding: deflate\r\n" : ""
        let content = isDeflated ? deflated(Array(request.text.utf8)) : Array(request.text.utf8)
        record.requestHead = [UInt8](
            "POST /v1/login HTTP/1.1\r\nContent-Type: \(request.type)\r\n\(coding)\r\n".utf8)
        record.responseHead = [UInt8](
            "HTTP/1.1 200 OK\r\nContent-Type: \(response.type)\r\n\r\n".utf8)
        record.requestBody.size = Int64(content.count)
        record.responseBody.size = Int64(response.text.utf8.count)
        record.status = 200
        source.exchangeRecords.append(record)
        source.contents[.init(exchange: id, direction: .request)] = content
        source.contents[.init(exchange: id, direction: .response)] = [UInt8](response.text.utf8)
    }
}
