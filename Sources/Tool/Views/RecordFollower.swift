internal import Base
internal import Glibc
package import Traffic

/// Tells of the records of a capture that is being written, each once, when it has ended.
package struct RecordFollower {
    /// Which kind of record.
    package enum Kind { case connections, exchanges }

    private let kind: Kind
    private let store: any TrafficStore
    private var lastChange: Int64
    /// All up to this number are told, but for those that are open.
    private var mark: Int64 = 0
    private var open: Set<Int64> = []
    private var toldBehindMark: Set<Int64> = []

    /// Before the first record is read, so that none is missed.
    package init(_ kind: Kind, of store: any TrafficStore) throws {
        self.kind = kind
        self.store = store
        lastChange = try store.lastChange
    }

    /// - Returns: whether the record is to be shown: it has ended and was not shown.
    mutating func takes(_ id: Int64, hasEnded: Bool) -> Bool {
        guard !isTold(id) else { return false }
        guard hasEnded else {
            open.insert(id)
            return false
        }
        open.remove(id)
        if id > mark { toldBehindMark.insert(id) }
        // Numbers that no record has hold the mark up.
        if toldBehindMark.count > Self.batch, let first = toldBehindMark.min() { mark = first - 1 }
        while toldBehindMark.contains(mark + 1) || open.contains(mark + 1) {
            mark += 1
            toldBehindMark.remove(mark)
        }
        return true
    }

    private func isTold(_ id: Int64) -> Bool {
        !open.contains(id) && (id <= mark || toldBehindMark.contains(id))
    }

    /// Waits for changes, and returns the numbers of the records that may have ended.
    mutating func next() throws -> [Int64] {
        while true {
            // A capture has no way to call; its journal is a row a commit.
            usleep(Self.pause)
            var changed: [Int64] = []
            try store.changes(since: lastChange) { change in
                lastChange = change.number
                let ranges = kind == .exchanges ? change.exchanges : change.connections
                // A capture may claim that any number of records changed.
                for range in ranges.prefix(Self.batch) where changed.count < Self.batch {
                    changed += range.prefix(Self.batch).filter { !isTold($0) }
                }
                return changed.count < Self.batch
            }
            if !changed.isEmpty { return changed.sorted() }
        }
    }

    /// Visits the records of a capture as they end, until `visit` returns false.
    ///
    /// - Parameters:
    ///   - all: visits those that there are.
    ///   - record: the one of a number.
    ///   - flush: called when nothing more is known for now.
    package mutating func follow<Record>(
        all: ((Record) throws -> Bool) throws -> Void, record: (Int64) throws -> Record?,
        isEnded: @escaping (Record) -> (id: Int64, hasEnded: Bool),
        visit: @escaping (Record) throws -> Bool,
        flush: () throws -> Void
    ) throws {
        var isWanted = true
        func meet(_ record: Record) throws -> Bool {
            let (id, hasEnded) = isEnded(record)
            if takes(id, hasEnded: hasEnded) { isWanted = try visit(record) }
            return isWanted
        }
        try all(meet)
        try flush()
        while isWanted {
            for id in try next() where isWanted {
                if let record = try record(id) { _ = try meet(record) }
            }
            try flush()
        }
    }

    private static let pause: UInt32 = 200_000
    private static let batch = 10_000
}
