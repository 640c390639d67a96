package import Base

/// A line of the schema `sallyport.refresh-event/1`: what happens to a fetch client.
package enum RefreshEventLine {
    package static let schema = "sallyport.refresh-event/1"

    /// - Parameter time: in milliseconds since 1970.
    package static func json(
        _ name: String, at time: Int64, _ values: [(String, JSONText)]
    ) -> JSONText {
        .object(
            [
                JSONText.Member("schema", .string(schema)),
                JSONText.Member("happenedAt", moment(time)),
                JSONText.Member("event", .string(name)),
            ] + values.map { JSONText.Member($0.0, $0.1) })
    }

    static func moment(_ milliseconds: Int64) -> JSONText {
        .string(Timestamp(microseconds: milliseconds * 1000).rfc3339)
    }
}

extension RefreshDecision {
    /// - Parameter time: in milliseconds since 1970.
    package func json(at time: Int64) -> JSONText {
        RefreshEventLine.json(name, at: time, values)
    }

    /// A stable word.
    package var name: String {
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
        case .transfersEnded: "transfers-ended"
        case .merge: "merge"
        case .foreground: "foreground"
        case .ask: "ask"
        }
    }

    private var values: [(String, JSONText)] {
        switch self {
        case .window(let cause, let until):
            [("cause", .string(cause.rawValue)), ("endsAt", RefreshEventLine.moment(until))]
        case .wake(let wake): wake.values
        case .finished(let token, let app, let result, let next):
            [
                ("app", .string(app)), ("wake", .integer(Int64(token.number))),
                ("result", .string(result.rawValue)),
                ("nextAt", RefreshEventLine.moment(next)),
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
            .foreground(let app), .ask(let app), .transfersEnded(let app):
            [("app", .string(app))]
        }
    }
}

extension Wake {
    fileprivate var values: [(String, JSONText)] {
        [
            ("app", .string(app)), ("wake", .integer(Int64(token.number))),
            ("mode", .string(mode.rawValue)), ("cause", .string(cause.rawValue)),
            ("coalesced", .boolean(isCoalesced)), ("sideBuffer", .boolean(usesSideBuffer)),
            ("deadlineAt", RefreshEventLine.moment(deadline)),
        ]
    }
}
