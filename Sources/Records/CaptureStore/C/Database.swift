internal import Base
internal import CSQLite

/// A connection to one SQLite file.
///
/// Not `Sendable`: opened without SQLite's own locks, so that one thread at a time may use it and
/// its statements. The file is closed when the last of them is gone.
@safe
final class Database {
    /// What the connection is for.
    enum Access {
        /// Writes and reads; the file must exist.
        case write
        /// Reads beside a writer. Opened for writing too where that is allowed, with
        /// `query_only`: SQLite then cleans up after itself when it closes as the last.
        case read
        /// Reads the main file alone, with no lock and no log: for a file that nobody writes, and
        /// for the bytes of any file as they are.
        case frozen
    }

    private let pointer: OpaquePointer
    let path: String
    let access: Access

    /// Opens the file.
    ///
    /// Errors: `capture-unreadable`, for a writer `capture-write-failed`.
    init(path: String, access: Access) throws(Failure) {
        _ = isConfigured
        self.path = path
        self.access = access
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_NOMUTEX | (access == .frozen ? frozenFlags : SQLITE_OPEN_READWRITE)
        let name = access == .frozen ? frozenAddress(of: path) : plainName(of: path)
        let result = unsafe sqlite3_open_v2(name, &opened, flags, nil)
        guard let handle = unsafe opened else {
            throw Failure.sqlite(
                path: path, access: access, result: result, message: "out of memory")
        }
        unsafe pointer = handle
        unsafe sqlite3_extended_result_codes(pointer, 1)
        guard result == SQLITE_OK else { throw failure(result) }
        guard unsafe sqlite_make_defensive(pointer) == SQLITE_OK else {
            throw failure(SQLITE_ERROR)
        }
        unsafe sqlite3_busy_timeout(pointer, busyMilliseconds)
        if access != .write {
            unsafe sqlite3_limit(pointer, SQLITE_LIMIT_LENGTH, readByteLimit)
            try execute("PRAGMA query_only = 1")
        }
    }

    deinit {
        unsafe sqlite3_close_v2(pointer)
    }

    /// The first bytes of the file as they are on disk, `nil` if it is shorter.
    ///
    /// SQLite does the reading, because a descriptor of our own, once closed, would end the locks
    /// that SQLite holds in this process (POSIX record locks, fcntl(2)).
    func start(count: Int32) throws(Failure) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let result = unsafe sqlite_read_start(pointer, &bytes, count)
        if result & 0xFF == SQLITE_IOERR { return nil }
        guard result == SQLITE_OK else { throw failure(result) }
        return bytes
    }

    /// Runs SQL that takes no values and whose rows, if any, do not matter.
    func execute(_ sql: String) throws(Failure) {
        let result = unsafe sqlite3_exec(pointer, sql, nil, nil, nil)
        guard result == SQLITE_OK else { throw failure(result) }
    }

    /// Compiles one statement, to be run many times.
    func prepare(_ sql: String) throws(Failure) -> Statement {
        var compiled: OpaquePointer?
        let result = unsafe sqlite3_prepare_v3(
            pointer, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &compiled, nil)
        guard result == SQLITE_OK, let handle = unsafe compiled else { throw failure(result) }
        return unsafe Statement(owning: handle, of: self)
    }

    /// The one integer that `sql` yields, 0 if it yields none.
    func integer(_ sql: String) throws(Failure) -> Int64 {
        let statement = try prepare(sql)
        return try statement.next() ? statement.integer() : 0
    }

    /// The number behind the highest one, which is the only value of a query.
    ///
    /// Errors: `capture-write-failed` for a file that leaves too few numbers; no writer comes near.
    func nextID(_ sql: String) throws(Failure) -> Int64 {
        let highest = try integer(sql)
        guard highest < idLimit else {
            throw Failure(
                "capture-write-failed", party: .tool,
                "cannot add to capture: \(path): its rows are numbered up to \(highest)",
                hint: "write to another file")
        }
        return highest + 1
    }

    /// Copies as much of the log into the file as readers allow, without waiting for them.
    func checkpoint() throws(Failure) {
        let result = unsafe sqlite3_wal_checkpoint_v2(
            pointer, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        guard result == SQLITE_OK || result & 0xFF == SQLITE_BUSY else { throw failure(result) }
    }

    /// Whether no transaction is open.
    var isBetweenTransactions: Bool { unsafe sqlite3_get_autocommit(pointer) != 0 }

    /// What `result`, just returned by a call on this connection, means to a person.
    func failure(_ result: Int32) -> Failure {
        let message = unsafe sqlite3_errmsg(pointer).map { unsafe String(cString: $0) } ?? ""
        return .sqlite(path: path, access: access, result: result, message: message)
    }
}

/// SQLite is told once, before its first use in the process, how it will be used.
private let isConfigured: Bool = sqlite_without_memory_statistics() == SQLITE_OK

/// How long to wait for another process's lock.
private let busyMilliseconds: Int32 = 5000

/// The longest value that a reader accepts, in bytes: far above what a writer stores, and low
/// enough that a hostile file cannot fill the memory.
private let readByteLimit: Int32 = 64 << 20

private let frozenFlags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI

/// SQLite gives a meaning to names such as `:memory:` and `file:…`, but not after a slash.
private func plainName(of path: String) -> String {
    path.hasPrefix("/") ? path : "./" + path
}

private func frozenAddress(of path: String) -> String {
    var address = path.hasPrefix("/") ? "file://" : "file:./"
    for scalar in path.unicodeScalars {
        switch scalar {
        case "%": address += "%25"
        case "?": address += "%3F"
        case "#": address += "%23"
        default: address.unicodeScalars.append(scalar)
        }
    }
    return address + "?immutable=1"
}

/// Behind it there are more numbers than a capture can take.
private let idLimit: Int64 = 1 << 62
