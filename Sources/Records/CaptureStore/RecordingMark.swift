internal import Base

/// What a file itself says of its writers: `recording` of `meta` is 1 from a writer's start until
/// it has closed the file, and `interruptions` counts those that never did.
enum RecordingMark {
    /// Notes that a writer has the file, whose lock it holds.
    static func begin(in database: Database) throws(Failure) {
        try database.execute(
            """
            BEGIN IMMEDIATE;
            INSERT OR REPLACE INTO meta SELECT 'interruptions', (\(interruptions)) + 1
                WHERE EXISTS (SELECT 1 FROM meta WHERE key = 'recording' AND value = 1);
            INSERT OR REPLACE INTO meta VALUES('recording', 1);
            COMMIT
            """)
    }

    /// Notes that all that was recorded is in the file.
    static func end(in database: Database) throws(Failure) {
        try database.execute("INSERT OR REPLACE INTO meta VALUES('recording', 0)")
    }

    private static let interruptions =
        "coalesce((SELECT value FROM meta WHERE key = 'interruptions'), 0)"
}

extension CaptureReader {
    package var isInterrupted: Bool {
        get throws {
            guard try !isMarked("interruptions") else { return true }
            guard try isMarked("recording"), !WriterLock.isHeld(of: database.path) else {
                return false
            }
            // Unless it was closed while we looked.
            return try isMarked("recording")
        }
    }

    private func isMarked(_ key: String) throws -> Bool {
        try withStatement("SELECT value > 0 FROM meta WHERE key = ?") { row in
            row.bind(key)
            return try row.next() && row.integer() > 0
        }
    }
}
