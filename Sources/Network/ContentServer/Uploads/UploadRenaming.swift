internal import Base

/// How an upload's two files get another name, so that a server which is killed between two of the
/// steps finds the one upload or the other under it, and never one's state with the other's data.
///
/// The first step says in the state beside what name the files get. From the second on, the data has
/// it: what the next start makes of a state without data is `UploadFolder.finishRenaming`.
struct UploadRenaming {
    /// What the state file says in the end.
    let record: UploadRecord
    /// In their order.
    private let steps: [(from: String, to: String)]

    /// Waits for the disk.
    ///
    /// Errors: `file-unwritable`.
    init(_ upload: StoredUpload, to name: String, in folder: String) throws(Failure) {
        var record = upload.facts.record
        record.movedTo = name
        record.checkedCount = nil
        self.record = record
        let marked = try Files.createBeside(upload.statePath, [UInt8](record.text.utf8))
        let moved = StoredUpload(name: name, folder: folder, record: record, size: 0)
        steps = [
            (marked, upload.statePath), (upload.dataPath, moved.dataPath),
            (upload.statePath, moved.statePath),
        ]
    }

    /// The steps through the one that gives the data its name.
    static let ofData = 0..<2
    static let ofState = 2..<3

    /// Errors: `file-unwritable`.
    func perform(_ range: Range<Int>) throws(Failure) {
        for step in steps[range] {
            guard Files.move(step.from, to: step.to) else {
                throw Failure(
                    "file-unwritable", party: .tool, "cannot name the upload \(step.to)")
            }
        }
    }

    /// Removes what was made for it, if no step was done.
    func remove() { Files.remove(steps[0].from) }
}
