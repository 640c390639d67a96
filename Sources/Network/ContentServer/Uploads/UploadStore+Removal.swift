internal import Base
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Removing uploads, and putting one in the place of another.
extension UploadStore {
    /// Removes an upload; nothing if it was removed or replaced before.
    ///
    /// - Parameters:
    ///   - turn: only while it is this one: whoever has taken the upload over keeps it.
    ///   - ifIncomplete: what is complete by now stays.
    func remove(_ upload: StoredUpload, turn: UInt64? = nil, ifIncomplete: Bool = false) {
        let data = Self.hold(upload.dataPath)
        let count = state.withLock { state -> UInt64? in
            guard state.uploads[upload.name] === upload,
                let count = upload.retire(turn: turn, ifIncomplete: ifIncomplete)
            else { return nil }
            state.uploads[upload.name] = nil
            // A state without data is nobody's, and goes at the next start.
            Files.remove(upload.dataPath)
            Files.remove(upload.statePath)
            return count
        }
        if data >= 0 { close(data) }
        if let count { give(count) }
    }

    /// Opens a file that is about to go: the system frees its bytes when the last descriptor is
    /// closed, which takes a while for many, and the lock must not be held as long.
    ///
    /// - Returns: the descriptor, which is the caller's; negative if there is none.
    private static func hold(_ path: String) -> Int32 {
        unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    }

    /// Gives an upload another name, in the place of the upload that has it; waits for the disk.
    ///
    /// Whoever asks for the name meanwhile finds the old one or the new one, and never none.
    ///
    /// - Returns: the upload under its own name if a file that is no upload has the other.
    ///
    /// Errors: `file-unwritable`, behind which the upload is gone; `upload-removed`.
    func move(_ upload: StoredUpload, to name: String) throws(Failure) -> StoredUpload {
        let renaming = try UploadRenaming(upload, to: name, in: path)
        let data = Self.hold("\(path)/\(name)")
        var freed: UInt64 = 0
        defer {
            renaming.remove()
            if data >= 0 { close(data) }
            give(freed)
        }
        return try state.withLock { (state) throws(Failure) in
            guard state.uploads[upload.name] === upload else { throw Self.removed }
            let old = state.uploads[name]
            let moved = StoredUpload(
                name: name, folder: path, record: renaming.record, size: upload.facts.offset)
            guard old != nil || Self.isFree(moved) else { return upload }
            guard let size = upload.retire() else { throw Self.removed }
            state.uploads[upload.name] = nil
            var lost = [upload]
            do throws(Failure) {
                // No request of the old one writes its state beside the new data.
                let moveData = { () throws(Failure) in
                    try renaming.perform(UploadRenaming.ofData)
                }
                if let old { freed += try old.retire(after: moveData) ?? 0 } else { try moveData() }
                lost.append(moved)
                try renaming.perform(UploadRenaming.ofState)
            } catch {
                for upload in lost {
                    Files.remove(upload.dataPath)
                    Files.remove(upload.statePath)
                }
                freed += size
                if let old, old.isRetired { state.uploads[name] = nil }
                throw error
            }
            state.uploads[name] = moved
            return moved
        }
    }

    static var altered: Failure {
        Failure(
            "upload-altered", party: .client,
            "somebody has changed the upload's file; remove it, and begin a new one")
    }

    static var removed: Failure {
        Failure(
            "upload-removed", party: .client, "the upload was removed; begin a new one")
    }
}
