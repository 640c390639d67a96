package import Base
internal import HTTPServer
internal import Synchronization

/// What all clients did, in memory with a bound, and in a file if one is given.
package final class Journal: Sendable {
    private let state: Mutex<State>
    private let path: String?

    private struct State {
        var began = MonotonicTime.now()
        /// In the order of their beginnings.
        var records: [UInt64: JournalRecord] = [:]
        var first: UInt64 = 0
        var next: UInt64 = 0
        var dropped: UInt64 = 0
        var clients: [String: Client] = [:]
        /// Whose requests go on, by the number of the request.
        var open: [UInt64: String] = [:]
        var connections = 0
        var writeFailure: Failure?
    }

    private struct Client {
        var requests: UInt64 = 0
        var open = 0
        var connections: [UInt64: UInt64] = [:]
    }

    /// One in memory alone.
    package init() {
        path = nil
        state = Mutex(State())
    }

    /// One that adds a line of JSON to a file for each request, once it is over; a new file is the
    /// owner's alone.
    ///
    /// Errors: `file-unwritable`.
    package init(path: String) throws(Failure) {
        self.path = path
        state = Mutex(State())
        try Files.append(path, [])
    }

    /// Begins the record of a request.
    ///
    /// - Returns: its number.
    func begin(_ request: ServerRequest, client: String) -> UInt64 {
        state.withLock { state in
            // Clients choose their labels: those that come too late are none of their own.
            let key = state.clients.count < Self.limit || state.clients[client] != nil ? client : ""
            var known = state.clients[key] ?? Client()
            known.requests += 1
            let number = request.connection.number
            let connection =
                known.connections[number] ?? UInt64(known.connections.count) + 1
            if known.connections[number] == nil, state.connections < Self.limit {
                known.connections[number] = connection
                state.connections += 1
            }
            let alongside = known.open
            known.open += 1
            state.clients[key] = known
            let id = state.next
            state.next += 1
            state.open[id] = key
            state.records[id] = JournalRecord(
                request, client: client, ordinal: known.requests, connection: connection,
                begunAt: (MonotonicTime.now().nanoseconds - state.began.nanoseconds) / 1_000_000)
            state.records[id]?.alongside = alongside
            if state.records.count > Self.limit {
                while state.records.removeValue(forKey: state.first) == nil { state.first += 1 }
                state.first += 1
                state.dropped += 1
            }
            return id
        }
    }

    func note(_ id: UInt64, _ response: ServerResponse, faults: [String], received: UInt64) {
        state.withLock { $0.records[id]?.take(response, faults: faults, received: received) }
    }

    func end(_ id: UInt64, _ sent: SentResponse) {
        let line: [UInt8]? = state.withLock { state in
            state.records[id]?.sent = sent
            if let key = state.open.removeValue(forKey: id) { state.clients[key]?.open -= 1 }
            return path == nil ? nil : state.records[id]?.json.line
        }
        guard let path, let line else { return }
        do throws(Failure) {
            try Files.append(path, line + [0x0A])
        } catch {
            state.withLock { $0.writeFailure = error }
        }
    }

    /// Forgets everything, for the next test; a file keeps what it has.
    package func reset() {
        state.withLock { state in
            let next = state.next
            state = State()
            // Requests that go on are not to end in records of others.
            (state.next, state.first) = (next, next)
        }
    }

    package struct Contents: Sendable {
        /// By client, and then in the order of its requests.
        package let records: [JournalRecord]
        /// Records that had to make room for later ones.
        package let dropped: UInt64
        /// Why the file is not whole.
        package let writeFailure: Failure?

        /// One line of JSON for each record, the same in every run with the same seed.
        package var canonical: [UInt8] { records.flatMap { $0.canonical.line + [0x0A] } }
    }

    package func contents(_ filter: JournalFilter = JournalFilter()) -> Contents {
        let (records, dropped, failure) = state.withLock {
            (Array($0.records.values), $0.dropped, $0.writeFailure)
        }
        return Contents(
            records: records.filter(filter.matches).sorted {
                ($0.client, $0.ordinal) < ($1.client, $1.ordinal)
            }, dropped: dropped, writeFailure: failure)
    }

    private static let limit = 20_000
}

/// Which records are meant.
package struct JournalFilter: Sendable {
    package var client: String?
    /// `*` stands for any run of characters.
    package var path: String?
    /// As it was asked for: `bytes=400000-`, or `*` for any.
    package var range: String?

    package init() {}

    func matches(_ record: JournalRecord) -> Bool {
        if let client, record.client != client { return false }
        if let path {
            let targets = [record.target, record.resource].map { String($0.prefix { $0 != "?" }) }
            guard targets.contains(where: { Glob.matches($0, path) }) else { return false }
        }
        if let range {
            guard let asked = record.range, Glob.matches(asked, range) else { return false }
        }
        return true
    }
}
