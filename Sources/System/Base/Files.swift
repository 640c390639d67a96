#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Small files, read and written whole, with errors that name the file.
package enum Files {
    /// Errors: `file-unreadable`.
    /// - Parameter byteLimit: a longer file is refused.
    package static func read(_ path: String, byteLimit: Int = 16 << 20) throws(Failure) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("file-unreadable", "cannot read", path) }
        defer { close(descriptor) }
        return try read(descriptor, path, byteLimit: byteLimit)
    }

    /// The same for a path at which somebody else may have put what never ends, or never answers: a
    /// named pipe or a device is refused.
    package static func readRegular(_ path: String, byteLimit: Int) throws(Failure) -> [UInt8] {
        // The opening of a named pipe would wait for who writes.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw failure("file-unreadable", "cannot read", path) }
        defer { close(descriptor) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw Failure(
                "file-unreadable", party: .tool, "cannot read \(path): it is no regular file")
        }
        return try read(descriptor, path, byteLimit: byteLimit)
    }

    private static func read(
        _ descriptor: Int32, _ path: String, byteLimit: Int
    ) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("file-unreadable", "cannot read", path) }
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk.prefix(count))
            guard bytes.count <= byteLimit else {
                throw Failure(
                    "file-unreadable", party: .tool,
                    "cannot read \(path): longer than \(byteLimit) bytes")
            }
        }
    }

    /// Makes a new file that only its owner may read, or others too; an existing one is refused.
    ///
    /// Errors: `file-unwritable`.
    package static func create(
        _ path: String, _ bytes: [UInt8], readableByOthers: Bool = false
    ) throws(Failure) {
        try create(path, mode: readableByOthers ? 0o644 : 0o600) { write throws(Failure) in
            try write(bytes)
        }
    }

    private static func create<Result>(
        _ path: String, mode: mode_t,
        _ body: (([UInt8]) throws(Failure) -> Void) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure("file-unwritable", "cannot create", path) }
        defer { close(descriptor) }
        let result = try body { bytes throws(Failure) in try write(bytes, to: descriptor, path) }
        guard fsync(descriptor) == 0 else { throw failure("file-unwritable", "cannot write", path) }
        return result
    }

    private static func write(
        _ bytes: [UInt8], to descriptor: Int32, _ path: String
    ) throws(Failure) {
        var written = 0
        try write(bytes, to: descriptor, path, count: &written)
    }

    /// - Parameter written: how much was, whether all or not, in bytes.
    private static func write(
        _ bytes: [UInt8], to descriptor: Int32, _ path: String, count written: inout Int
    ) throws(Failure) {
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(
                    descriptor, $0.baseAddress.map { unsafe $0 + written }, $0.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("file-unwritable", "cannot write", path) }
            written += count
        }
    }

    /// Writes a file that only its owner may read, in place of one that is there, whose permissions
    /// it then has. What is there and no file, such as a named pipe, is written to; so is an open
    /// descriptor, such as `/dev/stdout`, after what was written there before.
    ///
    /// What another user has put there is neither followed nor written to, but for root's.
    ///
    /// Errors: `file-unwritable`.
    package static func replace(_ path: String, _ bytes: [UInt8]) throws(Failure) {
        try replace(path) { write throws(Failure) in try write(bytes) }
    }

    /// Replaces a file by what is too long to be held: `body` is given what writes the next bytes. A
    /// file that is there stays as it is until all is written, and where `body` fails.
    ///
    /// Errors: `file-unwritable`, those of `body`.
    package static func replace<Result>(
        _ path: String, _ body: (([UInt8]) throws(Failure) -> Void) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Another opening of it would write from the start, over what is there.
        if let number = descriptor(path) {
            return try body { bytes throws(Failure) in try write(bytes, to: number, path) }
        }
        let (path, facts) = try replaceable(path)
        if let facts, facts.st_mode & S_IFMT != S_IFREG {
            let descriptor = try openUnlinked(path)
            defer { close(descriptor) }
            return try body { bytes throws(Failure) in try write(bytes, to: descriptor, path) }
        }
        let temporary = temporaryName(for: path)
        let isOurs = facts.map { $0.st_uid == geteuid() } ?? false
        do throws(Failure) {
            let mode = isOurs ? (facts?.st_mode ?? 0) & 0o777 : 0o600
            let result = try create(temporary, mode: mode, body)
            guard move(temporary, to: path) else {
                throw failure("file-unwritable", "cannot write", path)
            }
            return result
        } catch {
            unsafe unlink(temporary)
            throw error
        }
    }

    /// Adds to the end of a file, which is made if it is not there: all, or nothing where that fails.
    ///
    /// - Parameter followsLinks: for a path that the user has named, such as `/dev/stdout`.
    ///
    /// Errors: `file-unwritable`.
    package static func append(
        _ path: String, _ bytes: [UInt8], followsLinks: Bool = false
    ) throws(Failure) {
        let descriptor = unsafe open(
            path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW),
            0o600)
        guard descriptor >= 0 else { throw failure("file-unwritable", "cannot open", path) }
        defer { close(descriptor) }
        var facts = stat()
        let isKnown = unsafe fstat(descriptor, &facts) == 0
        let size = facts.st_size
        var written = 0
        do throws(Failure) {
            try write(bytes, to: descriptor, path, count: &written)
        } catch {
            // What would be added next must not be glued to a part of this; but what somebody else has added
            // meanwhile is not ours to take.
            if isKnown, unsafe fstat(descriptor, &facts) == 0, facts.st_size == size + written {
                _ = ftruncate(descriptor, size)
            }
            throw error
        }
    }

    /// Where a link leads, such as `net:[4026532281]` for a namespace in `/proc`; `nil` if it cannot be
    /// known.
    package static func linkTarget(_ path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe readlink(path, $0.baseAddress!, $0.count)
        }
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Where a path leads, and what is there, `nil` for nothing.
    private static func replaceable(
        _ path: String
    ) throws(Failure) -> (path: String, facts: stat?) {
        var facts = stat()
        guard unsafe lstat(path, &facts) == 0 else { return (path, nil) }
        if facts.st_mode & S_IFMT == S_IFREG { return (path, facts) }
        guard facts.st_uid == geteuid() || facts.st_uid == 0 else {
            throw Failure(
                "file-unwritable", party: .tool,
                "cannot write \(path): what is there is another user's")
        }
        guard facts.st_mode & S_IFMT == S_IFLNK else { return (path, facts) }
        guard let resolved = unsafe realpath(path, nil) else {
            throw failure("file-unwritable", "cannot open", path)
        }
        defer { unsafe free(resolved) }
        let target = unsafe String(cString: resolved)
        guard unsafe lstat(target, &facts) == 0 else { return (target, nil) }
        let isFile = facts.st_mode & S_IFMT == S_IFREG
        guard facts.st_uid == geteuid() || !isFile && facts.st_uid == 0 else {
            throw Failure(
                "file-unwritable", party: .tool,
                "cannot write \(path): it leads to \(target), which is another user's")
        }
        return (target, facts)
    }

    /// Opens what is no file. A named pipe that nobody reads is given a while, and not all time.
    private static func openUnlinked(_ path: String) throws(Failure) -> Int32 {
        for _ in 0..<pipeTries {
            let descriptor = unsafe open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            if descriptor >= 0 {
                // What is written then waits for who reads.
                _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
                return descriptor
            }
            guard errno == ENXIO else { throw failure("file-unwritable", "cannot open", path) }
            poll(nil, 0, pipeWait)
        }
        throw Failure("file-unwritable", party: .tool, "cannot write \(path): nobody reads it")
    }

    /// In milliseconds, and how often: two seconds.
    private static let pipeWait: Int32 = 20
    private static let pipeTries = 100

    /// Sees whether ``replace(_:_:)`` can write there, before there is something to write.
    ///
    /// Errors: `file-unwritable`.
    package static func checkReplaceable(_ path: String) throws(Failure) {
        if let number = descriptor(path) {
            let flags = fcntl(number, F_GETFL)
            guard flags >= 0, flags & O_ACCMODE != O_RDONLY else {
                errno = EBADF
                throw failure("file-unwritable", "cannot write", path)
            }
            return
        }
        guard !isFolder(path) else {
            throw Failure("file-unwritable", party: .tool, "cannot write \(path): it is a folder")
        }
        let (path, facts) = try replaceable(path)
        if let facts, facts.st_mode & S_IFMT != S_IFREG { return }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard unsafe access(folder, W_OK | X_OK) == 0 else {
            throw failure("file-unwritable", "cannot write", path)
        }
    }

    /// The name of what a path leads to, without its folder.
    package static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// The open descriptor that a path stands for, such as `/dev/fd/3`.
    private static func descriptor(_ path: String) -> Int32? {
        switch path {
        case "/dev/stdout": return STDOUT_FILENO
        case "/dev/stderr": return STDERR_FILENO
        default:
            let folder = ["/dev/fd/", "/proc/self/fd/"].first { path.hasPrefix($0) }
            guard let digits = folder.map({ path.dropFirst($0.count) }),
                digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            return Int32(digits)
        }
    }

    /// A name beside a file's for what is not whole yet. No two writers have the same, and nobody
    /// else has anything there.
    package static func temporaryName(for path: String) -> String {
        "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 36)).new"
    }

    /// Makes a folder and those above it, readable by their owner only; existing ones stay as they
    /// are.
    ///
    /// Errors: `file-unwritable`.
    package static func makeFolder(_ path: String) throws(Failure) {
        var built = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            built += "/" + part
            if unsafe mkdir(built, 0o700) != 0, errno != EEXIST {
                throw failure("file-unwritable", "cannot make the folder", built)
            }
        }
    }

    /// Makes a folder that is its owner's alone, or sees that the one which is there is: who may write
    /// to it, or put a link in its place, has files written under the owner's name.
    ///
    /// - Parameters:
    ///   - what: what the folder is, such as `folder of the transfers`.
    ///   - option: names another one.
    ///
    /// Errors: `folder-not-private`, `file-unwritable`.
    package static func makeOwnFolder(
        _ path: String, _ what: String, option: String
    ) throws(Failure) {
        try makeFolder(path)
        var bare = path[...]
        // With a slash behind it a link is not seen as one.
        while bare.count > 1, bare.hasSuffix("/") { bare.removeLast() }
        guard isOwn(String(bare)) else {
            throw Failure(
                "folder-not-private", party: .client,
                "the \(what) is another user's, or a link: \(path)",
                hint: "name a folder of your own with \(option)")
        }
        guard isPrivate(path) else {
            throw Failure(
                "folder-not-private", party: .client,
                "other users may look into the \(what): \(path)", hint: "chmod 700 \(path)")
        }
    }

    /// Whether something is there.
    package static func exists(_ path: String) -> Bool {
        unsafe access(path, F_OK) == 0
    }

    /// Whether two paths lead to one file that is there.
    package static func isSame(_ path: String, _ other: String) -> Bool {
        var facts = (stat(), stat())
        guard unsafe stat(path, &facts.0) == 0, unsafe stat(other, &facts.1) == 0 else {
            return false
        }
        return facts.0.st_dev == facts.1.st_dev && facts.0.st_ino == facts.1.st_ino
    }

    /// What is in a folder, sorted, without `.` and `..`; folders end with a slash.
    ///
    /// - Parameters:
    ///   - countLimit: a folder with more in it is refused.
    ///   - isWanted: other names are left out, and do not count.
    ///
    /// Errors: `file-unreadable`.
    package static func names(
        inFolder path: String, countLimit: Int = 10_000,
        where isWanted: (String) -> Bool = { _ in true }
    ) throws(Failure) -> [String] {
        guard let folder = unsafe opendir(path) else {
            throw failure("file-unreadable", "cannot read the folder", path)
        }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe bytes.prefix { $0 != 0 }.text
            }
            if name == "." || name == ".." || !isWanted(name) { continue }
            guard names.count < countLimit else {
                throw Failure(
                    "file-unreadable", party: .tool,
                    "cannot read the folder \(path): more than \(countLimit) files")
            }
            names.append(isFolder("\(path)/\(name)") ? name + "/" : name)
        }
        return names.sorted()
    }

    private static func isFolder(_ path: String) -> Bool {
        var facts = stat()
        return unsafe stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether only its owner may read or write it; `true` for what is not there.
    package static func isPrivate(_ path: String) -> Bool {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return true }
        return facts.st_mode & 0o077 == 0
    }

    /// Whether a file or folder is this user's, and no symbolic link.
    package static func isOwn(_ path: String) -> Bool {
        var facts = stat()
        guard unsafe lstat(path, &facts) == 0 else { return false }
        return facts.st_uid == geteuid() && facts.st_mode & S_IFMT != S_IFLNK
    }

    /// Whether a path is itself a symbolic link.
    package static func isLink(_ path: String) -> Bool {
        var facts = stat()
        return unsafe lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFLNK
    }

    /// Whether a part of the path is a symbolic link.
    package static func hasLink(_ path: String) -> Bool {
        var built = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            built += (built.isEmpty || built.hasSuffix("/") ? "" : "/") + part
            var facts = stat()
            if unsafe lstat(built, &facts) == 0, facts.st_mode & S_IFMT == S_IFLNK { return true }
        }
        return false
    }

    /// Reads a file that belongs to this user, or to root, and that nobody else may write to.
    ///
    /// - Returns: `nil` for anything else that is there: another's file, a link, a pipe.
    ///
    /// Errors: `file-unreadable`.
    package static func readOwn(_ path: String, byteLimit: Int) throws(Failure) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ELOOP { return nil }
            throw failure("file-unreadable", "cannot read", path)
        }
        defer { close(descriptor) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG,
            [0, geteuid()].contains(facts.st_uid), facts.st_mode & 0o002 == 0
        else { return nil }
        return try read("/dev/fd/\(descriptor)", byteLimit: byteLimit)
    }

    /// Moves a file or folder; one that is in the way is not replaced if it is a folder with
    /// something in it.
    ///
    /// - Returns: whether it was moved.
    package static func move(_ path: String, to target: String) -> Bool {
        unsafe rename(path, target) == 0
    }

    /// Removes a file, or an empty folder; what is not there is no error.
    package static func remove(_ path: String) {
        if unsafe unlink(path) != 0 { unsafe rmdir(path) }
    }

    /// Removes a folder with what is in it; links are removed and not followed. What cannot be
    /// removed stays.
    ///
    /// - Parameter descriptor: the folder, opened for reading.
    package static func removeFolder(_ path: String, opened descriptor: Int32) {
        removeContents(of: descriptor, depth: 16)
        unsafe rmdir(path)
    }

    /// - Parameter depth: of folders in folders, at most.
    private static func removeContents(of descriptor: Int32, depth: Int) {
        // The stream takes a descriptor over, so it gets one of its own.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0, let folder = unsafe fdopendir(copy) else { return }
        defer { unsafe closedir(folder) }
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe bytes.prefix { $0 != 0 }.text
            }
            if name == "." || name == ".." { continue }
            if unsafe unlinkat(descriptor, name, 0) == 0 { continue }
            let inner = unsafe openat(
                descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard inner >= 0 else { continue }
            defer { close(inner) }
            if depth > 1 { removeContents(of: inner, depth: depth - 1) }
            unsafe unlinkat(descriptor, name, AT_REMOVEDIR)
        }
    }

    private static func failure(_ code: String, _ what: String, _ path: String) -> Failure {
        let reason = unsafe String(cString: strerror(errno)).lowercased()
        return Failure(code, party: .tool, "\(what) \(path): \(reason)")
    }
}
