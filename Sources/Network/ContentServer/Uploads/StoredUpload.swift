internal import Base
internal import Contents
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// One upload: a data file and a state file.
///
/// Each request that writes has a turn, and the next that begins takes it away. All that belongs to
/// a turn (bytes, what is checked, that the upload is complete) is looked at and changed under one
/// lock, and only while it is that turn.
final class StoredUpload: Sendable {
    let name: String
    let dataPath: String
    let statePath: String
    private let state: Mutex<State>

    private struct State {
        var record: UploadRecord
        /// The bytes of the data file that count: the offset.
        var size: UInt64
        /// Bytes behind these whose checksum was not compared: they do not count, and the next turn
        /// takes them away. In bytes.
        var uncheckedCount: UInt64 = 0
        /// Who began last may write; everybody else has lost the upload.
        var turn = StoredUpload.firstTurn
        /// How often the record was changed, and which of these changes the state file has.
        var changeCount: UInt64 = 0
        var written: UInt64 = 0
        var isRemoved = false
        /// Whether somebody digests the whole.
        var isDigested = false
        /// Of requests that bring bytes, and have not ended.
        var writerCount = 0

        /// Errors: `upload-removed`, `upload-superseded`.
        func check(_ turn: UInt64) throws(Failure) {
            guard !isRemoved else { throw UploadStore.removed }
            guard self.turn == turn else {
                throw Failure(
                    "upload-superseded", party: .client,
                    "another request goes on with this upload, or ended it")
            }
        }

        mutating func retire(turn: UInt64?, ifIncomplete: Bool) -> UInt64? {
            guard !isRemoved, turn == nil || turn == self.turn else { return nil }
            guard !ifIncomplete || !record.isComplete else { return nil }
            isRemoved = true
            self.turn += 1
            return size + uncheckedCount
        }
    }

    struct Facts: Sendable {
        let record: UploadRecord
        let offset: UInt64

        /// Whether somebody has made the file of what was complete longer or shorter: its digest is of
        /// other bytes.
        var isAltered: Bool { record.isComplete && offset != record.length }

        /// Of what is complete, in hexadecimal.
        var digest: String? { isAltered ? nil : record.sha256 }
    }

    /// Why a write was not done.
    enum WriteEnd: Error {
        case tooLong
        case failed(Failure)
    }

    init(name: String, folder: String, record: UploadRecord, size: UInt64) {
        self.name = name
        dataPath = "\(folder)/\(name)"
        statePath = Self.statePath(name, folder)
        state = Mutex(State(record: record, size: size))
    }

    /// No upload's name begins with a dot.
    static func statePath(_ name: String, _ folder: String) -> String {
        "\(folder)/.\(name).upload"
    }

    var facts: Facts {
        state.withLock { Facts(record: $0.record, offset: $0.size) }
    }

    /// Of the request that makes the upload: others may take it over before a byte has come.
    static let firstTurn: UInt64 = 0

    /// Ends whatever append is under way: the offset stays as it is told now.
    ///
    /// - Returns: the turn that may write from now on, and how far the upload is; `nil` for what one
    ///   request brings alone, until it is complete: its client could not go on.
    func takeOver() -> (turn: UInt64, facts: Facts)? {
        state.withLock { state in
            let record = state.record
            guard record.isComplete || !record.comesAtOnce else { return nil }
            state.turn += 1
            return (state.turn, Facts(record: state.record, offset: state.size))
        }
    }

    /// Changes the record and writes the state file; waits for the disk.
    ///
    /// - Parameters:
    ///   - turn: whose change it is; `nil` if it does not depend on who writes.
    ///   - size: what the offset must be.
    ///
    /// Errors: `file-unwritable`; with a turn `upload-removed` and `upload-superseded`.
    func change(
        turn: UInt64?, at size: UInt64? = nil, _ body: (inout UploadRecord) -> Void
    ) throws(Failure) {
        let (text, number) = try state.withLock { (state) throws(Failure) in
            if let turn { try state.check(turn) }
            if let size, size != state.size {
                throw Failure(
                    "upload-superseded", party: .client,
                    "the upload has \(state.size) bytes, and not \(size)")
            }
            body(&state.record)
            state.changeCount += 1
            return (state.isRemoved ? nil : state.record.text, state.changeCount)
        }
        guard let text else { return }
        let temporary = try Files.createBeside(statePath, [UInt8](text.utf8))
        defer { Files.remove(temporary) }
        try state.withLock { (state) throws(Failure) in
            // Removed meanwhile, and its name may be another's; or a later change was faster.
            guard !state.isRemoved, number > state.written else { return }
            guard Files.move(temporary, to: statePath) else {
                throw Failure("file-unwritable", party: .tool, "cannot write \(statePath)")
            }
            state.written = number
        }
    }

    /// Appends to the data file, which only the last turn may.
    ///
    /// - Parameter counts: whether the bytes count now, or once they are accepted.
    func append(
        _ bytes: UnsafeRawBufferPointer, turn: UInt64, counts: Bool, to descriptor: Int32,
        of store: UploadStore
    ) throws(WriteEnd) {
        try state.withLock { (state) throws(WriteEnd) in
            let count = UInt64(bytes.count)
            let end = state.size + state.uncheckedCount
            do throws(Failure) {
                try state.check(turn)
            } catch {
                throw .failed(error)
            }
            if let length = state.record.length, end > length || count > length - end {
                throw .tooLong
            }
            do throws(Failure) {
                try store.take(count)
            } catch {
                throw .failed(error)
            }
            var done = 0
            while done < bytes.count {
                let got = unsafe pwrite(
                    descriptor, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done,
                    off_t(end) + off_t(done))
                if got < 0, errno == EINTR { continue }
                guard got > 0 else {
                    let reason = unsafe String(cString: strerror(errno)).lowercased()
                    // What stands behind the size does not count, and is overwritten.
                    store.give(count)
                    throw .failed(
                        Failure(
                            "file-unwritable", party: .tool,
                            "cannot write the upload: \(reason)"))
                }
                done += got
            }
            if counts { state.size += count } else { state.uncheckedCount += count }
        }
    }

    /// Counts the bytes whose checksum was right.
    ///
    /// Errors: `upload-removed`, `upload-superseded`.
    func accept(turn: UInt64) throws(Failure) {
        try state.withLock { (state) throws(Failure) in
            try state.check(turn)
            state.size += state.uncheckedCount
            state.uncheckedCount = 0
        }
    }

    /// Cuts the data file to the bytes that count, whoever has written the others.
    ///
    /// - Returns: whether the state file says that bytes behind some offset do not count, or may say
    ///   so: that has to change before more bytes count.
    ///
    /// Errors: `file-unwritable`, `upload-removed`, `upload-superseded`.
    func discardUnchecked(
        turn: UInt64, in descriptor: Int32, of store: UploadStore
    ) throws(Failure) -> Bool {
        try state.withLock { (state) throws(Failure) in
            try state.check(turn)
            // What somebody has taken away is not filled up with zeros.
            guard let file = FileIdentity(descriptor: descriptor), file.size >= state.size else {
                throw UploadStore.altered
            }
            guard ftruncate(descriptor, off_t(state.size)) == 0 else {
                throw Failure("file-unwritable", party: .tool, "cannot cut \(dataPath)")
            }
            store.give(state.uncheckedCount)
            state.uncheckedCount = 0
            return state.record.checkedCount != nil || state.written < state.changeCount
        }
    }

    /// - Returns: whether the caller may digest the whole, and has to say when it has ended; `false`
    ///   while another does.
    func beginDigest() -> Bool {
        state.withLock { state in
            defer { state.isDigested = true }
            return !state.isDigested
        }
    }

    func endDigest() { state.withLock { $0.isDigested = false } }

    /// Whether a request is about to append to it, or to complete it.
    var isBeingWritten: Bool { state.withLock { $0.writerCount > 0 } }

    /// Takes notice of a request that brings bytes; `endWriting` has to follow.
    func beginWriting() { state.withLock { $0.writerCount += 1 } }

    func endWriting() { state.withLock { $0.writerCount -= 1 } }

    /// Whether it was removed, or goes on under another name.
    var isRetired: Bool { state.withLock { $0.isRemoved } }

    /// Ends every append for good.
    ///
    /// - Parameters:
    ///   - turn: only while it is this one; `nil` for whoever writes.
    ///   - ifIncomplete: what is complete by now stays.
    ///
    /// - Returns: how many bytes become free; `nil` if it stays, or was removed before.
    func retire(turn: UInt64? = nil, ifIncomplete: Bool = false) -> UInt64? {
        state.withLock { $0.retire(turn: turn, ifIncomplete: ifIncomplete) }
    }

    /// The same behind what takes the files away: no state file is written meanwhile, and the upload
    /// is as it was if that fails.
    func retire(after work: () throws(Failure) -> Void) throws(Failure) -> UInt64? {
        try state.withLock { (state) throws(Failure) in
            try work()
            return state.retire(turn: nil, ifIncomplete: false)
        }
    }
}
