internal import Base
package import Traffic

extension ExchangeRecord {
    /// How a call of gRPC ended: the number in `grpc-status`, which stands in the trailers, or in
    /// the head of a response that is nothing else; `nil` for what is no such response.
    package var grpcStatus: Int? {
        let head = RecordedHead(responseHead)
        guard head.values(named: "content-type").contains(where: { MediaType($0).isGRPC }) else {
            return nil
        }
        let value =
            RecordedHead(trailers: responseBody.trailers).values(named: "grpc-status").last
            ?? head.values(named: "grpc-status").last
        guard let value, value.count <= 10 else { return nil }
        return Int(value.text)
    }
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
