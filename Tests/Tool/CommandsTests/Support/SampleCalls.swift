import Base
import Traffic

/// The capture of the cases about calls of gRPC, which fail with a status of 200.
enum SampleCalls {
    static func source() -> FakeTrafficSource {
        var source = FakeTrafficSource()
        source.connectionRecords = [connection]
        source.exchangeRecords = [
            call(1, trailers: "grpc-status: 0\r\n\r\n"),
            call(2, trailers: "grpc-status: 14\r\ngrpc-message: try later\r\n\r\n"),
            // Nothing but trailers, which are a head then.
            call(3, fields: "grpc-status: 14\r\n"),
        ]
        return source
    }

    private static var connection: ConnectionRecord {
        var record = ConnectionRecord(
            id: 1, openedAt: SampleCapture.start, client: "127.0.0.1:52119",
            listener: "127.0.0.1:8080", mode: .explicit)
        record.closedAt = SampleCapture.start
        record.originHost = "api.example.com"
        record.originPort = 443
        record.protocolName = "h2"
        record.exchangeCount = 3
        record.outcome = .completed
        return record
    }

    private static func call(
        _ id: Int64, fields: String = "", trailers: String = ""
    ) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: id, connection: 1, startedAt: SampleCapture.start, scheme: .https,
            authority: "api.example.com")
        let type = "content-type: application/grpc\r\n"
        record.requestHead = [UInt8](
            "POST /shop.Cart/Get HTTP/2.0\r\nhost: api.example.com\r\n\(type)\r\n".utf8)
        record.responseHead = [UInt8]("HTTP/2.0 200\r\n\(type)\(fields)\r\n".utf8)
        record.responseBody.trailers = [UInt8](trailers.utf8)
        record.status = 200
        record.durationMicroseconds = 20_000
        record.protocolName = "HTTP/2"
        record.stream = Int32(2 * id - 1)
        return record
    }
}
