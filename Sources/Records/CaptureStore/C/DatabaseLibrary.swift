internal import CSQLite

/// The library that captures are written with.
package enum DatabaseLibrary {
    /// Such as `SQLite 3.40.1`, of the library that is loaded.
    package static var version: String {
        "SQLite \(unsafe String(cString: sqlite3_libversion()))"
    }
}
