internal import Base

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The rules by which a capture file is created and opened.
enum CaptureFile {
    /// Opens a capture for writing; creates it, for its owner alone, if there is none.
    ///
    /// A file that is there and is no capture is left as it is, and so is what a link points to.
    ///
    /// - Returns: also whether the file was not there before.
    ///
    /// Errors: `capture-not-a-capture`, `capture-newer`, `capture-in-use`, `capture-write-failed`,
    /// `capture-unreadable`, `file-unwritable`.
    static func openForWriting(
        _ path: String, _ configuration: CaptureConfiguration
    ) throws(Failure) -> (database: Database, lock: FileLock, isMade: Bool) {
        let (isMade, isEmpty) = try makeOrExamine(path)
        let database = try Database(path: path, access: .write)
        if isEmpty {
            try database.execute("PRAGMA page_size = \(configuration.pageSize)")
            try database.execute("PRAGMA auto_vacuum = NONE")
            // Written before the log is in use, so that the main file itself says what it is.
            try database.execute("PRAGMA application_id = \(Schema.applicationID)")
        }
        try database.execute("PRAGMA journal_mode = WAL")
        // The first read makes SQLite open its log.
        let version = try database.integer("PRAGMA user_version")
        let lock = try WriterLock.take(of: path)
        try check(version, path)
        try configure(database, configuration)
        try migrate(database, from: version, configuration)
        try HeadCutting(database).run(configuration.progress)
        // What was open when its writer ended without a word is known to be over.
        try database.execute("UPDATE connection SET outcome = 'lost' WHERE outcome = 'open'")
        try RecordingMark.begin(in: database)
        return (database, lock, isMade)
    }

    /// Opens a capture for reading, one of an earlier version too, which stays as it is.
    ///
    /// Errors: `capture-not-a-capture`, `capture-newer`, `capture-unreadable`.
    static func openForReading(
        _ path: String
    ) throws(Failure) -> (database: Database, version: Int64) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            throw Failure(
                "capture-unreadable", party: .tool,
                "cannot read capture: \(path): \(unsafe String(cString: strerror(errno)))",
                hint: "see whether the path is right")
        }
        guard status.isRegular, status.st_size > 0 else { throw .notACapture(path) }
        try checkApplication(path)
        let database = try openBeside(path)
        let version = try database.integer("PRAGMA user_version")
        try check(version, path)
        let tables = try database.integer(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('meta', "
                + "'connection', 'certificate', 'client_tls', 'origin_tls', 'exchange', "
                + "'interim', 'chunk', 'part', 'message', 'change')")
        guard tables == min(8 + version, 11) else { throw .notACapture(path) }
        return (database, version)
    }

    /// Beside a writer where that can be; alone where the folder is read-only and no log waits.
    private static func openBeside(_ path: String) throws(Failure) -> Database {
        do {
            let database = try Database(path: path, access: .read)
            _ = try database.integer("SELECT count(*) FROM sqlite_schema")
            return database
        } catch {
            var status = stat()
            let hasLog = unsafe stat(path + "-wal", &status) == 0 && status.st_size > 0
            guard !hasLog, unsafe access(path, R_OK) == 0 else { throw error }
            return try Database(path: path, access: .frozen)
        }
    }

    /// Creates an empty file, or finds that what is there is a capture.
    ///
    /// - Returns: whether the file is new, and whether it is empty.
    private static func makeOrExamine(
        _ path: String
    ) throws(Failure) -> (isMade: Bool, isEmpty: Bool) {
        let descriptor = unsafe open(
            path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            close(descriptor)
            return (true, true)
        }
        let reason = errno
        var status = stat()
        guard reason == EEXIST, unsafe lstat(path, &status) == 0 else {
            throw Failure(
                "capture-write-failed", party: .tool,
                "cannot create capture: \(path): \(unsafe String(cString: strerror(reason)))",
                hint: "see whether the folder exists and is writable")
        }
        guard status.isRegular else { throw .notACapture(path) }
        let version = try status.st_size > 0 ? checkApplication(path) : 0
        // It will hold the keys of recorded connections; SQLite gives its log the same mode. What
        // will be refused stays as it is.
        if status.st_mode & 0o077 != 0, version <= Schema.version {
            guard unsafe chmod(path, 0o600) == 0 else {
                throw Failure(
                    "capture-write-failed", party: .tool,
                    "others may read capture: \(path), and its mode cannot be changed: "
                        + "\(unsafe String(cString: strerror(errno)))",
                    hint: "write to a file of your own")
            }
        }
        return (false, status.st_size == 0)
    }

    /// Looks at the file's header alone (SQLite's file format §1.3), whatever state a crash left
    /// the rest in: a log of a foreign database is not replayed.
    ///
    /// - Returns: the version of the schema, as the file itself has it.
    @discardableResult
    private static func checkApplication(_ path: String) throws(Failure) -> Int64 {
        let header = try Database(path: path, access: .frozen).start(count: 72)
        let magic = [UInt8]("SQLite format 3\0".utf8)
        guard let header, header.starts(with: magic) else { throw .notACapture(path) }
        let application = header[68..<72].reduce(0) { $0 << 8 | Int64($1) }
        guard application == Schema.applicationID else { throw .notACapture(path) }
        return header[60..<64].reduce(0) { $0 << 8 | Int64($1) }
    }

    private static func check(_ version: Int64, _ path: String) throws(Failure) {
        guard version <= Schema.version else {
            throw .newer(path, "its schema is version \(version)")
        }
    }

    private static func configure(
        _ database: Database, _ configuration: CaptureConfiguration
    ) throws(Failure) {
        let pageSize = try database.integer("PRAGMA page_size")
        let checkpointPages = Int64(configuration.checkpointBytes) / max(pageSize, 512)
        try database.execute("PRAGMA synchronous = NORMAL")
        try database.execute("PRAGMA cache_size = -\(configuration.cacheKibibytes)")
        try database.execute("PRAGMA wal_autocheckpoint = \(checkpointPages)")
        try database.execute("PRAGMA journal_size_limit = \(configuration.checkpointBytes * 2)")
        try database.execute("PRAGMA secure_delete = OFF")
        if let limit = configuration.pageLimit {
            try database.execute("PRAGMA max_page_count = \(limit)")
        }
    }

    private static func migrate(
        _ database: Database, from version: Int64, _ configuration: CaptureConfiguration
    ) throws(Failure) {
        guard version >= 0, version < Schema.version else { return }
        try database.execute("BEGIN IMMEDIATE")
        for step in Schema.migrations[Int(version)...] { try database.execute(step) }
        var facts: [(key: String, value: String)] = []
        if version == 0 {
            facts = [
                ("created_us", "\(Timestamp.now().microseconds)"),
                ("creator", configuration.creator),
                ("digest", configuration.digestName),
            ]
        }
        if version < 3 { facts.append(("uuid", UUIDText.random())) }
        let note = try database.prepare("INSERT INTO meta VALUES(?,?)")
        for (key, value) in facts {
            note.bind(key)
            note.bind(value)
            try note.run()
        }
        try database.execute("PRAGMA user_version = \(Schema.version)")
        try database.execute("COMMIT")
    }
}

/// Keeps a second writer out, for as long as it lives.
///
/// A lock on the log, because SQLite has record locks on the two other files, which end when any
/// descriptor of theirs is closed. The log is there as long as a connection is.
enum WriterLock {
    /// Errors: `capture-in-use`, `file-unwritable`.
    static func take(of path: String) throws(Failure) -> FileLock {
        // A reader that looks has it for a moment, too.
        for _ in 0..<20 {
            if let lock = try FileLock.take(log(of: path)) { return lock }
            usleep(5_000)
        }
        throw Failure(
            "capture-in-use", party: .tool,
            "capture is being written by another proxy: \(path)",
            hint: "end the other one, or record into another file")
    }

    /// Whether a writer has the capture, as far as may be seen from here.
    static func isHeld(of path: String) -> Bool {
        // The log lies beside the file itself, and not beside a link to it.
        guard let real = unsafe realpath(path, nil) else { return false }
        defer { unsafe free(real) }
        let descriptor = unsafe open(
            log(of: String(cString: real)), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }

    private static func log(of path: String) -> String { path + "-wal" }
}

extension stat {
    fileprivate var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
}
