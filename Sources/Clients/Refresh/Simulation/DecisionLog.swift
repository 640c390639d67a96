internal import Base

/// What a scheduler decided, as JSON Lines: the same trace and seed give the same bytes. It is handed
/// on line by line, since nothing of it is needed any more.
package enum DecisionLog {
    package struct Entry: Sendable, Equatable {
        /// In milliseconds since 1970.
        package let at: Int64
        package let decision: RefreshDecision

        /// Without its end.
        package var line: [UInt8] { decision.json(at: at).line }
    }

    package static let schema = "sallyport.refresh-log/1"

    /// The first line, without its end.
    package static func head(_ trace: RefreshTrace, seed: UInt64) -> [UInt8] {
        let head: JSONText = [
            "schema": .string(schema), "trace": .string(trace.name),
            "seed": .string(String(seed)), "startAt": .string(trace.start.rfc3339),
        ]
        return head.line
    }
}
