internal import Base
package import HTTPModel

/// How a call of gRPC ended, which the status of its response does not tell.
package enum CallStatus {
    /// The number in `grpc-status`, which stands in the trailers, or in the head of a response
    /// without content; `nil` for what is no gRPC.
    package static func of(_ head: Fields, trailers: Fields) -> Int? {
        let value = trailers.first(named: "grpc-status") ?? head.first(named: "grpc-status")
        return value.flatMap { Int($0.text) }
    }
}
