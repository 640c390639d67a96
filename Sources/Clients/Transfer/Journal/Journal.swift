internal import Base
internal import Synchronization

/// The journal of one task: a file that is only appended to, and what it says. One that has grown long
/// is written anew beside itself, with what still counts, and takes its own place.
///
/// It may say less than is on the disk, and never more: whoever appends progress has synced the data
/// before.
///
/// It may be appended to from two threads: records are written one after the other. Its file is opened
/// for each record: there may be more tasks than a process may have descriptors.
final class Journal: Sendable {
    private let path: String
    private let disk: any TransferDisk
    private let place: Mutex<Place>
    private let read: Mutex<JournalState>

    private struct Place {
        /// Where the next record goes.
        var end: Int64
        /// In bytes: longer ones are written anew.
        var limit: Int64
    }

    /// What it says; nobody who asks waits for the disk.
    var state: JournalState { read.withLock { $0 } }

    /// Opens a journal, and cuts a torn tail off.
    ///
    /// - Returns: `nil` for one without a first record: a crash came before it was there.
    static func open(_ path: String, on disk: any TransferDisk) throws(DiskFailure) -> Journal? {
        guard let size = try disk.size(of: path), size > 0 else { return nil }
        guard size <= sizeLimit else {
            throw DiskFailure(.other, "cannot read \(path): longer than \(sizeLimit) bytes")
        }
        let file = try disk.open(path, creating: false)
        var reader = JournalReader(try file.read(at: 0, count: Int(size)))
        guard case .created(let plan, let time) = reader.next() else {
            guard !reader.isDamaged else {
                throw DiskFailure(.other, "cannot read \(path): its first record is damaged")
            }
            return nil
        }
        var state = JournalState(plan, createdAt: time)
        while let record = reader.next() { state.apply(record) }
        if Int64(reader.end) < size {
            try file.truncate(to: Int64(reader.end))
            try file.sync()
        }
        return Journal(path, state, end: Int64(reader.end), on: disk)
    }

    /// Begins a journal, whose file is not there yet.
    ///
    /// - Parameter limit: in bytes: one that is longer is written anew.
    static func create(
        _ path: String, _ plan: TransferPlan, at time: Timestamp, on disk: any TransferDisk,
        rewritingAt limit: Int64 = standardLimit
    ) throws(DiskFailure) -> Journal {
        _ = try disk.open(path, creating: true)
        let state = JournalState(plan, createdAt: time)
        let journal = Journal(path, state, end: 0, on: disk, rewritingAt: limit)
        try journal.write(JournalReader.frame(.created(plan, at: time)))
        return journal
    }

    /// Removes a journal, and what a crash has left of one that was written anew.
    static func remove(_ path: String, on disk: any TransferDisk) throws(DiskFailure) {
        try disk.remove(next(path))
        try disk.remove(path)
    }

    private init(
        _ path: String, _ state: JournalState, end: Int64,
        on disk: any TransferDisk, rewritingAt limit: Int64 = standardLimit
    ) {
        self.path = path
        self.disk = disk
        place = Mutex(Place(end: end, limit: limit))
        read = Mutex(state)
    }

    /// Appends a record, which is on the disk when this returns.
    func append(_ record: JournalRecord) throws(DiskFailure) { try append([record]) }

    /// The same for several.
    func append(_ records: [JournalRecord]) throws(DiskFailure) {
        try write(records.flatMap { JournalReader.frame($0) }) {
            read.withLock { state in
                for record in records { state.apply(record) }
            }
        }
    }

    private func write(_ bytes: [UInt8], then note: () -> Void = {}) throws(DiskFailure) {
        try place.withLock { place throws(DiskFailure) in
            // One that failed may have left a part, which the next one writes over.
            let file = try disk.open(path, creating: false)
            try file.write(bytes.span, at: place.end)
            try file.sync()
            place.end += Int64(bytes.count)
            note()
            guard place.end > place.limit else { return }
            try rewrite(&place)
            place.limit = max(place.limit, 2 * place.end)
        }
    }

    /// Puts a shorter file that says the same in the place of this one. One that cannot be written is
    /// done without for as long again.
    private func rewrite(_ place: inout Place) throws(DiskFailure) {
        // What has ended grows no more, and its order of records says how.
        guard state.ending == nil else { return }
        let bytes = state.records.flatMap { JournalReader.frame($0) }
        guard Int64(bytes.count) < place.end / 2 else { return }
        let next = Self.next(path)
        do throws(DiskFailure) {
            try disk.remove(next)
            let file = try disk.open(next, creating: true)
            try file.write(bytes.span, at: 0)
            try file.sync()
        } catch {
            return
        }
        try disk.rename(next, to: path, replacing: true)
        place.end = Int64(bytes.count)
        try disk.syncFolder(String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)))
    }

    private static func next(_ path: String) -> String { path + ".next" }

    /// In bytes: what is read at a start is not to be much more than what it says.
    static let standardLimit: Int64 = 1 << 20
    /// In bytes: none gets so long but by others' hands.
    static let sizeLimit: Int64 = 256 << 20
}
