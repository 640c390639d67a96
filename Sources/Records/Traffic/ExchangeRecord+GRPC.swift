internal import Base

extension ExchangeRecord {
    /// How a call of gRPC ended: the number in `grpc-status`, which stands in the trailers, or in
    /// the head of a response that is nothing else; `nil` for what is no such response.
    package var grpcStatus: Int? {
        let head = RecordedHead(responseHead)
        let isCall = head.values(named: Self.contentType).contains { value in
            value.map(\.asciiLowercased).starts(with: Self.grpcType)
        }
        guard isCall else { return nil }
        let trailers = RecordedHead(Self.noLine + responseBody.trailers)
        let value =
            trailers.values(named: Self.grpcField).last ?? head.values(named: Self.grpcField).last
        guard let value, value.count <= 10 else { return nil }
        return Int(value.text)
    }

    private static let contentType = [UInt8]("content-type".utf8)
    private static let grpcType = [UInt8]("application/grpc".utf8)
    private static let grpcField = [UInt8]("grpc-status".utf8)
    /// What a head has before its fields, and trailers have not.
    private static let noLine = [UInt8]("\n".utf8)
}

/// The names of gRPC's statuses, as its specification numbers them.
package enum GRPCStatus {
    /// Such as `grpc 14 UNAVAILABLE`.
    package static func text(_ number: Int) -> String {
        guard names.indices.contains(number) else { return "grpc \(number)" }
        return "grpc \(number) \(names[number])"
    }

    private static let names = [
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
        "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
        "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
        "UNAUTHENTICATED",
    ]
}
