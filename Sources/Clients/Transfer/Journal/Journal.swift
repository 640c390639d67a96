internal import Base
internal import Synchronization

/// The journal of one task: a file that is only appended to, and what it says.
///
/// It may say less than is on the disk, and never more: whoever appends progress has synced the data
/// before.
///
/// It may be appended to from two threads: records are written one after the other.
final class Journal: Sendable {
    private let file: any DiskFile
    private let end: Mutex<Int64>
    private let read: Mutex<JournalState>

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
        guard case .created(let plan, let time) = reader.next() else { return nil }
        var state = JournalState(plan, createdAt: time)
        while let record = reader.next() { state.apply(record) }
        if Int64(reader.end) < size {
            try file.truncate(to: Int64(reader.end))
            try file.sync()
        }
        return Journal(file, state, end: Int64(reader.end))
    }

    /// Begins a journal, whose file is not there yet.
    static func create(
        _ path: String, _ plan: TransferPlan, at time: Timestamp, on disk: any TransferDisk
    ) throws(DiskFailure) -> Journal {
        let file = try disk.open(path, creating: true)
        let journal = Journal(file, JournalState(plan, createdAt: time), end: 0)
        try journal.write(JournalReader.frame(.created(plan, at: time)))
        return journal
    }

    private init(_ file: any DiskFile, _ state: JournalState, end: Int64) {
        self.file = file
        self.end = Mutex(end)
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
        try end.withLock { end throws(DiskFailure) in
            // One that failed may have left a part, which the next one writes over.
            try file.write(bytes.span, at: end)
            try file.sync()
            end += Int64(bytes.count)
            note()
        }
    }

    /// In bytes: a terabyte in steps of a MiB takes less.
    static let sizeLimit: Int64 = 256 << 20
}
