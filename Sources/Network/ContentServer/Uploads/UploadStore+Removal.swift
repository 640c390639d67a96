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
    /// - Parameter turn: only while it is this one: whoever has taken the upload over keeps it.
    func remove(_ upload: StoredUpload, turn: UInt64? = nil) {
        let data = Self.hold(upload.dataPath)
        let count = state.withLock { state -> UInt64? in
            guard state.uploads[upload.name] === upload, let count = upload.retire(turn: turn)
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
        let data = Self.hold("\(path)/\(name)")
        var freed: UInt64 = 0
        defer {
            if data >= 0 { close(data) }
            give(freed)
        }
        return try state.withLock { (state) throws(Failure) in
            guard state.uploads[upload.name] === upload else { throw Self.removed }
            let record = upload.facts.record
            let old = state.uploads[name]
            guard
                old != nil
                    || Self.isFree(StoredUpload(name: name, folder: path, record: record, size: 0))
            else { return upload }
            guard let size = upload.retire() else { throw Self.removed }
            state.uploads[upload.name] = nil
            let moved = StoredUpload(name: name, folder: path, record: record, size: size)
            do throws(Failure) {
                try replace(old, upload, by: moved, &freed)
            } catch {
                Files.remove(upload.dataPath)
                Files.remove(upload.statePath)
                freed += size
                if let old, old.isRetired { state.uploads[name] = nil }
                throw error
            }
            state.uploads[name] = moved
            return moved
        }
    }

    /// Puts an upload's files in the place of another's, which is as it was if that fails at once.
    private func replace(
        _ old: StoredUpload?, _ upload: StoredUpload, by moved: StoredUpload, _ freed: inout UInt64
    ) throws(Failure) {
        // A server that is killed here must not find the one's state beside the other's data.
        let kept = Files.temporaryName(for: moved.statePath)
        let replaceData = { () throws(Failure) in
            let isKept = old != nil && Files.move(moved.statePath, to: kept)
            guard isKept || !Files.exists(moved.statePath) else { throw self.unnamable(moved) }
            guard Files.move(upload.dataPath, to: moved.dataPath) else {
                if isKept { _ = Files.move(kept, to: moved.statePath) }
                throw self.unnamable(moved)
            }
            if isKept { Files.remove(kept) }
        }
        // No request of the old one writes its state beside the new data.
        if let old { freed += try old.retire(after: replaceData) ?? 0 } else { try replaceData() }
        guard Files.move(upload.statePath, to: moved.statePath) else {
            Files.remove(moved.dataPath)
            Files.remove(moved.statePath)
            throw unnamable(moved)
        }
    }

    static var removed: Failure {
        Failure(
            "upload-removed", party: .client, "the upload was removed; begin a new one")
    }
}
