internal import Base

/// What a scheduler decided, as JSON Lines: the same trace and seed give the same bytes.
package struct DecisionLog: Sendable {
    package private(set) var bytes: [UInt8]
    package private(set) var entries: [Entry] = []

    package struct Entry: Sendable, Equatable {
        /// In milliseconds since 1970.
        package let at: Int64
        package let decision: RefreshDecision
    }

    package static let schema = "sallyport.refresh-log/1"

    init(_ trace: RefreshTrace, seed: UInt64) {
        let head: JSONText = [
            "schema": .string(Self.schema), "trace": .string(trace.name),
            "seed": .string(String(seed)), "startAt": .string(trace.start.rfc3339),
        ]
        bytes = head.line + [0x0A]
    }

    mutating func append(_ decisions: [RefreshDecision], at time: Int64) {
        for decision in decisions {
            entries.append(Entry(at: time, decision: decision))
            bytes += decision.json(at: time).line + [0x0A]
        }
    }
}
