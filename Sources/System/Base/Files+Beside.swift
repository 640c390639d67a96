extension Files {
    /// Writes what is to become a file to a new one beside it, which only its owner may read: `move`
    /// then puts that in the place of whatever has the name, and follows no link there.
    ///
    /// Errors: `file-unwritable`.
    ///
    /// - Returns: the path of the new file.
    package static func createBeside(
        _ path: String, _ bytes: [UInt8]
    ) throws(Failure) -> String {
        let temporary = temporaryName(for: path)
        do throws(Failure) {
            try create(temporary, bytes)
        } catch {
            // What could not be written whole is nobody's.
            remove(temporary)
            throw error
        }
        return temporary
    }
}
