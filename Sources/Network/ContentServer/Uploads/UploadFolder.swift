internal import Base
internal import TLS

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// What a server finds in the folder of its uploads when it starts.
enum UploadFolder {
    /// Opens the folder, or makes it, for one server alone.
    ///
    /// A link is refused: what is uploaded would go to a folder that whoever made the link has chosen.
    ///
    /// Errors: `folder-unreadable`, `file-unwritable`.
    ///
    /// - Returns: its descriptor, which is the caller's.
    static func lock(_ path: String) throws(Failure) -> Int32 {
        try Files.makeFolder(path)
        var bare = path[...]
        // With a slash behind it a link is not seen as one.
        while bare.count > 1, bare.hasSuffix("/") { bare.removeLast() }
        let descriptor = unsafe open(
            String(bare), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            let reason = unsafe String(cString: strerror(errno)).lowercased()
            guard !Files.isLink(String(bare)) else {
                throw Failure(
                    "folder-unreadable", party: .tool,
                    "no uploads are kept in \(path): it is a link",
                    hint: "name the folder that it leads to by --uploads")
            }
            throw Failure(
                "folder-unreadable", party: .tool, "cannot open the folder \(path): \(reason)")
        }
        do throws(Failure) {
            try check(descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func check(_ descriptor: Int32, _ path: String) throws(Failure) {
        guard unsafe access(path, W_OK | X_OK) == 0 else {
            throw Failure(
                "file-unwritable", party: .tool,
                "no uploads can be kept in \(path): it may not be"
                    + " written to", hint: "give another folder by --uploads")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw Failure(
                "folder-unreadable", party: .tool, "another server keeps its uploads in \(path)",
                hint: "end it, or give another folder by --uploads")
        }
    }

    /// Finds the uploads, and removes what a server that was killed has left half done; other files
    /// stay, however many there are.
    ///
    /// Errors: `file-unreadable`.
    static func uploads(in path: String) throws(Failure) -> [StoredUpload] {
        for name in try states(in: path) { try finishRenaming(name, path) }
        let names = try states(in: path)
        var found: [StoredUpload] = []
        for name in names {
            if isTemporary(name) {
                if isOwnFile("\(path)/\(name)") { Files.remove("\(path)/\(name)") }
            } else if isState(name), let upload = try upload(name, path) {
                found.append(upload)
            }
        }
        return found
    }

    private static func states(in path: String) throws(Failure) -> [String] {
        try Files.names(inFolder: path, countLimit: countLimit) { isTemporary($0) || isState($0) }
    }

    /// Gives a state its name whose data has got it: the server was killed ahead of the last step of
    /// `UploadRenaming`.
    ///
    /// What was removed has no data either, so that only the digest tells whose state it is.
    private static func finishRenaming(_ file: String, _ folder: String) throws(Failure) {
        guard isState(file), FilePlace("\(folder)/\(name(file))") == nil,
            let record = try record("\(folder)/\(file)"), let sum = record.sha256,
            let name = record.movedTo, UploadStore.isName([UInt8](name.utf8)),
            name != Self.name(file), sha256("\(folder)/\(name)", record.length) == sum
        else { return }
        _ = Files.move("\(folder)/\(file)", to: StoredUpload.statePath(name, folder))
    }

    /// - Returns: in hexadecimal; `nil` if the file has another length, or is none.
    private static func sha256(_ path: String, _ length: UInt64?) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG,
            length == UInt64(max(0, facts.st_size))
        else { return nil }
        let hash = RunningHash(.sha256)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count >= 0 || errno == EINTR else { return nil }
            if count == 0 { return hash.finish().hex }
            if count > 0 { hash.update(Array(buffer.prefix(count))) }
        }
    }

    /// Whether a name is one of `Files.createBeside` for a state file.
    private static func isTemporary(_ file: String) -> Bool {
        file.hasPrefix(".") && file.contains(".upload.") && file.hasSuffix(".new")
    }

    private static func isState(_ file: String) -> Bool {
        file.hasPrefix(".") && file.hasSuffix(".upload")
    }

    private static func isOwnFile(_ path: String) -> Bool {
        var facts = stat()
        return unsafe lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
            && facts.st_uid == geteuid()
    }

    /// That of the upload whose state file it is.
    private static func name(_ state: String) -> String {
        String(state.dropFirst().dropLast(".upload".utf8.count))
    }

    private static func record(_ path: String) throws(Failure) -> UploadRecord? {
        try Files.readOwn(path, byteLimit: 65_536).flatMap { UploadRecord($0) }
    }

    /// The upload of a state file; `nil` for any other file.
    private static func upload(_ file: String, _ folder: String) throws(Failure) -> StoredUpload? {
        let name = name(file)
        guard UploadStore.isName([UInt8](name.utf8)), var record = try record("\(folder)/\(file)")
        else { return nil }
        let path = "\(folder)/\(name)"
        guard FilePlace(path) != nil else {
            // The state goes last when an upload is removed, and comes first when it is made.
            if isOwnFile("\(folder)/\(file)") { Files.remove("\(folder)/\(file)") }
            return nil
        }
        let descriptor = unsafe open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        var size = UInt64(max(0, facts.st_size))
        // The process ended within an append whose checksum nobody has compared.
        if let checked = record.checkedCount {
            if checked < size, !record.isComplete {
                guard ftruncate(descriptor, off_t(checked)) == 0 else { return nil }
                size = checked
            }
            record.checkedCount = nil
        }
        guard record.isComplete || !record.comesAtOnce else {
            // Its request ended with the server that took it.
            if isOwnFile("\(folder)/\(file)"), isOwnFile(path) {
                Files.remove(path)
                Files.remove("\(folder)/\(file)")
            }
            return nil
        }
        return StoredUpload(name: name, folder: folder, record: record, size: size)
    }

    /// Of state files, and what is half done.
    private static let countLimit = 100_000
}
