import Base
import Testing
import Traffic

@testable import Contents

struct GRPCStatusTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let head: String
        let trailers: String
        let status: Int?
        var testDescription: String { "\(head) \(trailers)".debugDescription }
    }

    private static let call = "HTTP/2.0 200 \r\ncontent-type: application/grpc\r\n"

    @Test(arguments: [
        Row(head: "\(call)\r\n", trailers: "grpc-status: 0\r\n\r\n", status: 0),
        Row(
            head: "\(call)\r\n", trailers: "grpc-status: 14\r\ngrpc-message: x\r\n\r\n", status: 14),
        Row(head: "\(call)grpc-status: 12\r\n\r\n", trailers: "", status: 12),
        Row(
            head: "HTTP/2.0 200 \r\nContent-Type: Application/gRPC+proto\r\n\r\n",
            trailers: "Grpc-Status: 5\r\n\r\n", status: 5),
        Row(head: "\(call)\r\n", trailers: "", status: nil),
        Row(head: "\(call)\r\n", trailers: "grpc-status: many\r\n\r\n", status: nil),
        Row(
            head: "\(call)\r\n", trailers: "grpc-status: 99999999999999999999\r\n\r\n", status: nil),
        Row(head: "HTTP/1.1 200 OK\r\ngrpc-status: 3\r\n\r\n", trailers: "", status: nil),
        Row(head: "", trailers: "", status: nil),
    ])
    func isRead(_ row: Row) {
        var record = ExchangeRecord(
            id: 1, connection: 1, startedAt: Timestamp(microseconds: 0), scheme: .https,
            authority: "a.test")
        record.responseHead = [UInt8](row.head.utf8)
        record.responseBody.trailers = [UInt8](row.trailers.utf8)
        #expect(record.grpcStatus == row.status)
    }

    @Test(arguments: [
        (0, "grpc 0 OK"), (14, "grpc 14 UNAVAILABLE"), (16, "grpc 16 UNAUTHENTICATED"),
        (17, "grpc 17"), (-1, "grpc -1"),
    ])
    func hasAName(_ number: Int, _ text: String) {
        #expect(GRPCStatus.text(number) == text)
    }
}
