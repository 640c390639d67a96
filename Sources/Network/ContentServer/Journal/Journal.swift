package import Base
internal import HTTPServer
internal import Synchronization

/// What all clients did, in memory with a bound, and in a file if one is given.
package final class Journal: Sendable {
    private let state: Mutex<State>
    private let path: String?
    /// Held while a line is added, so that one which fails takes no other's with it.
    private let file = Mutex(())

    fileprivate struct State {
        var began = MonotonicTime.now()
        /// Beginnings, answers and ends, counted: what their order is told by.
        var events: UInt64 = 0
        /// In the order of their beginnings, from `oldest` around to the one before it.
        var entries: [JournalEntry] = []
        var oldest = 0
        var dropped: UInt64 = 0
        var clients: [String: JournalClient] = [:]
        var connections = 0
        var writeFailure: Failure?
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
        try Files.append(path, [], followsLinks: true)
    }

    /// Begins the record of a request.
    func begin(_ request: ServerRequest, client: String) -> JournalEntry {
        let record = JournalRecord(request, client: client)
        return state.withLock { $0.begin(record, request.connection.number) }
    }

    /// Begins the record of a request that is the same as another, and is answered in the same way.
    ///
    /// - Parameter client: `nil` for the same.
    func begin(
        again entry: JournalEntry, client: String?, _ connection: UInt64
    ) -> JournalEntry {
        state.withLock { state in
            var record = entry.record
            if let client { record.client = client }
            let entry = state.begin(record, connection)
            entry.record.answered = entry.record.begun
            return entry
        }
    }

    func note(
        _ entry: JournalEntry, _ response: ServerResponse, faults: [String], received: UInt64
    ) {
        state.withLock { state in
            state.events += 1
            entry.record.take(response, faults: faults, received: received)
            entry.record.answered = state.events
        }
    }

    /// Takes note of a request that no route saw.
    func note(_ refused: RefusedRequest) {
        let record = JournalRecord(refused)
        guard !record.target.hasPrefix("/.sallyport/") else { return }
        let entry = state.withLock { $0.begin(record, refused.connection.number) }
        end(entry, SentResponse(end: .whole, count: 0, acknowledged: nil))
    }

    /// Ends the record of a request; or says later that its client may not have got all of it.
    func end(_ entry: JournalEntry, _ sent: SentResponse) {
        let line: [UInt8]? = state.withLock { state in
            guard !sent.isDoubtful else {
                entry.record.sent?.isDoubtful = true
                return nil
            }
            state.events += 1
            entry.record.sent = sent
            entry.record.ended = state.events
            entry.client.open -= 1
            return path == nil ? nil : entry.record.json.line
        }
        guard let path, let line else { return }
        let failure = file.withLock { _ -> Failure? in
            do throws(Failure) {
                try Files.append(path, line + [0x0A], followsLinks: true)
                return nil
            } catch {
                return error
            }
        }
        if let failure { state.withLock { $0.writeFailure = failure } }
    }

    /// Forgets everything, for the next test; a file keeps what it has. Requests that go on end in
    /// entries that nobody looks at.
    package func reset() { state.withLock { $0 = State() } }

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
            ($0.entries.map(\.record), $0.dropped, $0.writeFailure)
        }
        return Contents(
            records: records.filter(filter.matches).sorted {
                ($0.client, $0.ordinal) < ($1.client, $1.ordinal)
            }, dropped: dropped, writeFailure: failure)
    }

    /// Of records, of clients, and of connections that are told apart.
    fileprivate static let limit = 20_000
}

extension Journal.State {
    fileprivate mutating func begin(_ begun: JournalRecord, _ number: UInt64) -> JournalEntry {
        var record = begun
        let client = client(record.client)
        client.requests += 1
        record.ordinal = client.requests
        record.connection = ordinal(of: number, client)
        record.alongside = client.open
        record.begunAt = (MonotonicTime.now().nanoseconds - began.nanoseconds) / 1_000_000
        events += 1
        (record.begun, record.answered, record.ended) = (events, nil, nil)
        record.sent = nil
        client.open += 1
        let entry = JournalEntry(record, of: client)
        keep(entry)
        return entry
    }

    /// Clients choose their labels: those that come too late are none of their own.
    fileprivate mutating func client(_ label: String) -> JournalClient {
        if let client = clients[label] { return client }
        let label = clients.count < Journal.limit ? label : ""
        if let client = clients[label] { return client }
        let client = JournalClient()
        clients[label] = client
        return client
    }

    fileprivate mutating func ordinal(of number: UInt64, _ client: JournalClient) -> UInt64 {
        if let known = client.connections[number] { return known }
        let ordinal = UInt64(client.connections.count) + 1
        if connections < Journal.limit {
            client.connections[number] = ordinal
            connections += 1
        }
        return ordinal
    }

    /// The oldest makes room.
    fileprivate mutating func keep(_ entry: JournalEntry) {
        guard entries.count == Journal.limit else { return entries.append(entry) }
        entries[oldest] = entry
        oldest = (oldest + 1) % entries.count
        dropped += 1
    }
}

/// What is counted of one client.
///
/// `@unchecked Sendable`: used under its journal's lock only.
private final class JournalClient: @unchecked Sendable {
    var requests: UInt64 = 0
    /// Requests that go on.
    var open = 0
    /// The ordinals of its connections, by their numbers.
    var connections: [UInt64: UInt64] = [:]
}

/// A request in the journal, while it goes on and afterwards.
///
/// `@unchecked Sendable`: used under its journal's lock only.
final class JournalEntry: @unchecked Sendable {
    fileprivate var record: JournalRecord
    fileprivate let client: JournalClient

    fileprivate init(_ record: JournalRecord, of client: JournalClient) {
        self.record = record
        self.client = client
    }
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
