package import Base

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
            "seed": .string(String(seed)), "start": .string(trace.start.rfc3339),
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

extension RefreshDecision {
    /// One line of the log.
    package func json(at time: Int64) -> JSONText {
        let moment = Timestamp(microseconds: time * 1000).rfc3339
        return .object(
            [JSONText.Member("at", .string(moment)), JSONText.Member("decision", .string(name))]
                + values.map { JSONText.Member($0.0, $0.1) })
    }

    private var name: String {
        switch self {
        case .window: "window"
        case .wake: "wake"
        case .finished: "finished"
        case .snapshot: "snapshot"
        case .violation: "violation"
        case .terminated: "terminated"
        case .held: "held"
        case .deferred: "deferred"
        case .dropped: "dropped"
        case .banner: "banner"
        case .delivered: "delivered"
        case .merge: "merge"
        case .foreground: "foreground"
        case .ask: "ask"
        }
    }

    private var values: [(String, JSONText)] {
        switch self {
        case .window(let cause, let until):
            [("cause", .string(cause.rawValue)), ("until", Self.moment(until))]
        case .wake(let wake):
            [
                ("app", .string(wake.app)), ("wake", .integer(Int64(wake.token.number))),
                ("mode", .string(wake.mode.rawValue)), ("cause", .string(wake.cause.rawValue)),
                ("coalesced", .boolean(wake.isCoalesced)),
                ("side_buffer", .boolean(wake.usesSideBuffer)),
                ("deadline", Self.moment(wake.deadline)),
            ]
        case .finished(let token, let app, let result, let next):
            [
                ("app", .string(app)), ("wake", .integer(Int64(token.number))),
                ("result", .string(result.rawValue)), ("next_after", Self.moment(next)),
            ]
        case .violation(let violation, let token, let app):
            [
                ("app", .string(app)), ("wake", .integer(Int64(token.number))),
                ("violation", .string(violation.rawValue)),
            ]
        case .held(let app, let reason), .deferred(let app, let reason),
            .dropped(let app, let reason):
            [("app", .string(app)), ("reason", .string(reason.rawValue))]
        case .merge(let app, let count):
            [("app", .string(app)), ("wakes", .integer(Int64(count)))]
        case .snapshot(let app), .terminated(let app), .banner(let app), .delivered(let app),
            .foreground(let app), .ask(let app):
            [("app", .string(app))]
        }
    }

    private static func moment(_ milliseconds: Int64) -> JSONText {
        .string(Timestamp(microseconds: milliseconds * 1000).rfc3339)
    }
}
