internal import Base

/// The two files of an upload that has no name yet, which nobody can remove under it.
struct UnnamedFiles {
    let data: String
    let state: String

    /// Waits for the disk.
    ///
    /// Errors: `file-unwritable`.
    init(_ record: UploadRecord, in folder: String) throws(Failure) {
        let path = StoredUpload.statePath("upload", folder)
        data = try Files.createBeside(path, [])
        do throws(Failure) {
            state = try Files.createBeside(path, [UInt8](record.text.utf8))
        } catch {
            Files.remove(data)
            throw error
        }
    }

    /// Removes what has got no name.
    func remove() {
        Files.remove(data)
        Files.remove(state)
    }
}
