import Base
import Traffic

/// The capture of the cases about transfers: one of each state that a person must tell apart.
enum SampleTransfers {
    static func source() -> FakeTrafficSource {
        var source = FakeTrafficSource()
        source.connectionRecords = [
            connection(1, "127.0.0.1:52114"), connection(2, "127.0.0.1:52118"),
        ]
        let whole = (0..<100).map { UInt8(ascii: "a") + $0 % 26 }
        // Cut, and gone on with on another connection, some bytes early.
        fetch(1, "/film.mp4?token=t0k3n", 1, "", "200 OK", length: 100, whole[..<60], &source)
        fetch(
            2, "/film.mp4?token=t0k3n", 2, "bytes=50-", "206 Partial Content",
            range: "50-99/100", whole[50...], &source)
        fetch(3, "/plain", 1, "", "200 OK", length: 100, whole[...], &source)
        // Another version, as the tag tells.
        fetch(4, "/app.zip", 1, "", "200 OK", length: 100, whole[..<40], &source)
        fetch(
            5, "/app.zip", 2, "bytes=40-", "206 Partial Content", range: "40-99/100", tag: "v2",
            whole[40...], &source)
        // Other bytes under the same tag.
        fetch(6, "/disk.img", 1, "", "200 OK", length: 100, whole[..<60], &source)
        fetch(
            7, "/disk.img", 2, "bytes=50-", "206 Partial Content", range: "50-99/100",
            [UInt8](repeating: 0x2A, count: 50)[...], &source)
        fetch(
            8, "/song.ogg", 1, "bytes=20-29", "206 Partial Content", range: "20-29/100",
            whole[20..<30], &source)
        send(
            9, "POST /files", "Tus-Resumable: 1.0.0\r\nUpload-Length: 100",
            "201 Created\r\nLocation: /files/7", [], &source)
        send(
            10, "PATCH /files/7", "Tus-Resumable: 1.0.0\r\nUpload-Offset: 0",
            "204 No Content\r\nUpload-Offset: 100", whole[...], &source)
        return source
    }

    private static func connection(_ id: Int64, _ client: String) -> ConnectionRecord {
        ConnectionRecord(
            id: id, openedAt: SampleCapture.start, client: client, listener: "127.0.0.1:8080",
            mode: .explicit)
    }

    private static func fetch(
        _ id: Int64, _ target: String, _ connection: Int64, _ range: String, _ status: String,
        length: Int? = nil, range contentRange: String? = nil, tag: String = "v1",
        _ bytes: ArraySlice<UInt8>, _ source: inout FakeTrafficSource
    ) {
        let asked = range.isEmpty ? "" : "Range: \(range)\r\nIf-Range: \"v1\"\r\n"
        var head = "HTTP/1.1 \(status)\r\nETag: \"\(tag)\"\r\n"
        if let length { head += "Content-Length: \(length)\r\n" }
        if let contentRange { head += "Content-Range: bytes \(contentRange)\r\n" }
        var record = record(id, connection, "GET \(target)", asked, head + "\r\n", status)
        record.responseBody.size = Int64(bytes.count)
        if let length, bytes.count < length { record.error = "client-closed" }
        source.exchangeRecords.append(record)
        source.contents[.init(exchange: id, direction: .response)] = Array(bytes)
    }

    private static func send(
        _ id: Int64, _ line: String, _ fields: String, _ answer: String,
        _ bytes: ArraySlice<UInt8>, _ source: inout FakeTrafficSource
    ) {
        var record = record(
            id, 1, line, fields + "\r\n", "HTTP/1.1 \(answer)\r\n\r\n", answer)
        record.requestBody.size = Int64(bytes.count)
        source.exchangeRecords.append(record)
        source.contents[.init(exchange: id, direction: .request)] = Array(bytes)
    }

    private static func record(
        _ id: Int64, _ connection: Int64, _ line: String, _ fields: String, _ answer: String,
        _ status: String
    ) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: id, connection: connection,
            startedAt: Timestamp(
                microseconds: SampleCapture.start.microseconds + id * 1_000_000),
            scheme: .https, authority: "files.example.com")
        record.durationMicroseconds = 1000
        record.requestHead = [UInt8]("\(line) HTTP/1.1\r\n\(fields)\r\n".utf8)
        record.responseHead = [UInt8](answer.utf8)
        record.status = Int(status.prefix(3)) ?? 0
        return record
    }
}
