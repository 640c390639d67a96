internal import Base
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// One upload: a data file whose size is the offset, and a state file.
final class StoredUpload: Sendable {
    let name: String
    let dataPath: String
    let statePath: String
    private let state: Mutex<State>

    private struct State {
        var record: UploadRecord
        /// Of the data file, in bytes.
        var size: UInt64
        /// Who began last may write; everybody else has lost the upload.
        var turn: UInt64 = 0
        /// How often the record was changed, and which of these changes the state file has.
        var changeCount: UInt64 = 0
        var written: UInt64 = 0
        var isRemoved = false
    }

    struct Facts: Sendable {
        let record: UploadRecord
        let offset: UInt64
    }

    /// Why a write was not done.
    enum WriteEnd: Error {
        /// Another request has taken the upload over, or it was removed.
        case superseded
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

    /// Ends whatever append is under way: the offset stays as it is told now.
    ///
    /// - Returns: the turn that may write from now on, and how far the upload is.
    func takeOver() -> (turn: UInt64, facts: Facts) {
        state.withLock { state in
            state.turn += 1
            return (state.turn, Facts(record: state.record, offset: state.size))
        }
    }

    /// Changes the record and writes the state file; waits for the disk.
    ///
    /// Errors: `file-unwritable`.
    func change(_ body: (inout UploadRecord) -> Void) throws(Failure) {
        let (text, number) = state.withLock { state in
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
    func append(
        _ bytes: UnsafeRawBufferPointer, turn: UInt64, to descriptor: Int32, of store: UploadStore
    ) throws(WriteEnd) {
        try state.withLock { (state) throws(WriteEnd) in
            guard state.turn == turn, !state.isRemoved else { throw .superseded }
            let count = UInt64(bytes.count)
            if let length = state.record.length, state.size > length || count > length - state.size
            {
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
                    off_t(state.size) + off_t(done))
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
            state.size += count
        }
    }

    /// Takes back what an append of this turn has written behind `offset`.
    func cut(to offset: UInt64, turn: UInt64, in descriptor: Int32, of store: UploadStore) {
        state.withLock { state in
            guard state.turn == turn, !state.isRemoved, state.size > offset,
                ftruncate(descriptor, off_t(offset)) == 0
            else { return }
            store.give(state.size - offset)
            state.size = offset
        }
    }

    /// Whether it was removed, or goes on under another name.
    var isRetired: Bool { state.withLock { $0.isRemoved } }

    /// Ends every append for good.
    ///
    /// - Returns: how many bytes become free; `nil` if it was removed before.
    func retire() -> UInt64? {
        state.withLock { state in
            guard !state.isRemoved else { return nil }
            state.isRemoved = true
            state.turn += 1
            return state.size
        }
    }
}
