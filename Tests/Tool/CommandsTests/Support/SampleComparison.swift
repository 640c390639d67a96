import Base
import Traffic

/// The traffic of the sample capture as a later build sent it: with a difference of each kind.
enum SampleComparison {
    static func later() -> FakeTrafficSource {
        var source = SampleCapture.source()
        source.exchangeRecords = source.exchangeRecords.compactMap(changed)
        source.exchangeRecords.swapAt(0, 1)
        add(retry, "", to: &source)
        add(new, #"{"ok":true}"#, to: &source)
        set(
            #"{"next":"<script>alert(1)</script>", "items":[1,9,2,3]}"#, of: 1, .response,
            in: &source)
        set("user=nora&password=pa55-werd&remember=1", of: 2, .request, in: &source)
        set(
            "caf\u{E9}\tok\n\"><img src=x onerror=alert(1)>\u{202E}\n", of: 5, .response,
            in: &source)
        return source
    }

    /// The third exchange is gone; the fourth comes through.
    private static func changed(_ record: ExchangeRecord) -> ExchangeRecord? {
        var record = record
        switch record.id {
        case 1:
            replace("Cookie: sid=c00kie", "Cookie: sid=c00kie-too", in: &record.requestHead)
            replace("page=2", "page=3", in: &record.requestHead)
            replace("Accept: */*", "Accept: application/json", in: &record.requestHead)
        case 2:
            replace("302 Found", "200 OK", in: &record.responseHead)
            replace("Content-Length: 0\r\n", "Date: today\r\n", in: &record.responseHead)
            record.status = 200
        case 3: return nil
        case 4:
            record.error = nil
            record.status = 204
            record.responseHead = Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)
        default: break
        }
        return record
    }

    private static var retry: ExchangeRecord {
        var record = ExchangeRecord(
            id: 7, connection: 1, startedAt: SampleCapture.start, scheme: .https,
            authority: "api.example.com")
        record.requestHead = Array(
            "DELETE /v1/items/7 HTTP/1.1\r\nHost: api.example.com\r\n\r\n".utf8)
        record.responseHead = Array("HTTP/1.1 503 Service Unavailable\r\n\r\n".utf8)
        record.status = 503
        return record
    }

    private static var new: ExchangeRecord {
        var record = ExchangeRecord(
            id: 8, connection: 1, startedAt: SampleCapture.start, scheme: .https,
            authority: "api.example.com")
        record.requestHead = Array(
            "GET /v2/new?api_key=k3y-of-nora HTTP/1.1\r\nHost: api.example.com\r\n\r\n".utf8)
        record.responseHead = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
        record.status = 200
        return record
    }

    private static func add(
        _ record: ExchangeRecord, _ content: String, to source: inout FakeTrafficSource
    ) {
        source.exchangeRecords.append(record)
        set(content, of: record.id, .response, in: &source)
    }

    private static func set(
        _ content: String, of id: Int64, _ direction: Direction, in source: inout FakeTrafficSource
    ) {
        source.contents[.init(exchange: id, direction: direction)] = Array(content.utf8)
        for index in source.exchangeRecords.indices where source.exchangeRecords[index].id == id {
            if direction == .request {
                source.exchangeRecords[index].requestBody.size = Int64(content.utf8.count)
            } else {
                source.exchangeRecords[index].responseBody.size = Int64(content.utf8.count)
            }
        }
    }

    private static func replace(_ text: String, _ other: String, in head: inout [UInt8]) {
        head = Array(head.text.replacing(text, with: other).utf8)
    }
}
