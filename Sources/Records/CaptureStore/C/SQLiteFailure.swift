internal import Base
internal import CSQLite

extension Failure {
    /// Turns a result code of SQLite into a failure that says what to do.
    static func sqlite(
        path: String, access: Database.Access, result: Int32, message: String
    ) -> Failure {
        switch (result & 0xFF, access) {
        case (SQLITE_NOTADB, _):
            return .notACapture(path)
        case (SQLITE_CORRUPT, _):
            return Failure(
                "capture-unreadable", party: .tool, "capture is damaged: \(path): \(message)",
                hint:
                    "save what can be read: sqlite3 '\(path)' .recover | sqlite3 new.sallyport"
            )
        case (SQLITE_FULL, .write):
            return Failure(
                "capture-write-failed", party: .tool,
                "cannot write capture: \(path): the disk is full",
                hint: "what was recorded until then is kept; free some space and start again")
        case (SQLITE_BUSY, _), (SQLITE_LOCKED, _):
            return Failure(
                "capture-in-use", party: .tool, "capture is in use: \(path): \(message)",
                hint: "end the other program that writes to it, or record into another file")
        case (_, .write):
            return Failure(
                "capture-write-failed", party: .tool, "cannot write capture: \(path): \(message)",
                hint: "see whether the folder exists, is writable and has space left")
        default:
            return Failure(
                "capture-unreadable", party: .tool, "cannot read capture: \(path): \(message)",
                hint: "see whether the file exists and may be read")
        }
    }

    /// The file is something else than a capture.
    static func notACapture(_ path: String) -> Failure {
        Failure(
            "capture-not-a-capture", party: .tool, "not a capture: \(path)",
            hint: "name another file; this one is left as it is")
    }

    /// The file holds what this version does not know.
    static func newer(_ path: String, _ what: String) -> Failure {
        Failure(
            "capture-newer", party: .tool, "capture is of a newer version: \(path): \(what)",
            hint: "use the version of sallyport that wrote it, or a later one")
    }
}
