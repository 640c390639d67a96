internal import Base
internal import CPlatform
internal import Glibc

/// The file system of this machine.
package final class SystemDisk: TransferDisk {
    package init() {}

    package var isSlow: Bool { true }

    package func open(_ path: String, creating: Bool) throws(DiskFailure) -> any DiskFile {
        let flags = O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | O_NOFOLLOW
        return try open(path, flags | (creating ? O_CREAT : 0))
    }

    package func openSource(_ path: String) throws(DiskFailure) -> any DiskFile {
        try open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    }

    /// - Parameter flags: so that a FIFO without a writer does not stop the loop.
    private func open(_ path: String, _ flags: Int32) throws(DiskFailure) -> any DiskFile {
        let descriptor = unsafe Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else { throw .last("open", path) }
        let file = SystemDiskFile(descriptor, path)
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else { throw .last("look at", path) }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw DiskFailure(.other, "cannot open \(path): it is no file")
        }
        return file
    }

    package func size(of path: String) throws(DiskFailure) -> Int64? {
        var facts = stat()
        guard unsafe lstat(path, &facts) == 0 else {
            if errno == ENOENT { return nil }
            throw .last("look at", path)
        }
        return Int64(facts.st_size)
    }

    package func isLinked(_ path: String) throws(DiskFailure) -> Bool {
        var facts = stat()
        guard unsafe lstat(path, &facts) == 0 else {
            if errno == ENOENT { return false }
            throw .last("look at", path)
        }
        return facts.st_nlink > 1
    }

    package func names(in folder: String) throws(DiskFailure) -> [String] {
        guard Files.exists(folder) else { return [] }
        do throws(Failure) {
            return try Files.names(inFolder: folder, countLimit: Self.nameLimit).map { name in
                name.hasSuffix("/") ? String(name.dropLast()) : name
            }
        } catch {
            throw DiskFailure(.other, error.detail)
        }
    }

    /// Transfers in one folder.
    private static let nameLimit = 200_000

    package func makeFolder(_ path: String) throws(DiskFailure) {
        do throws(Failure) {
            try Files.makeFolder(path)
        } catch {
            throw .last("make the folder", path)
        }
    }

    package func rename(
        _ path: String, to target: String, replacing: Bool
    ) throws(DiskFailure) {
        if replacing {
            // What has come there meanwhile is in the way, and may be moved away.
            guard Self.isReplaceable(target) else {
                throw DiskFailure(.exists, "cannot replace \(target): it is no regular file")
            }
            guard unsafe Glibc.rename(path, target) == 0 else { throw .last("rename", path) }
            return
        }
        if unsafe platform_rename_new(path, target) == 0 { return }
        // Not every file system has it, nor does every container let it through: what else it says, what
        // follows says as well.
        guard errno != EEXIST else { throw .last("rename", path) }
        // Between the two halves of this a crash leaves both names (`DownloadFinish.letGo`). A link fails
        // where something is in the way; file systems without links check it first.
        if unsafe link(path, target) == 0 {
            // It is there, even where nothing may be removed.
            _ = unsafe unlink(path)
            return
        }
        guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { throw .last("rename", path) }
        guard !Files.exists(target) else {
            throw DiskFailure(.exists, "cannot make \(target): there is one")
        }
        guard unsafe Glibc.rename(path, target) == 0 else { throw .last("rename", path) }
    }

    package func checkReplacing(_ path: String) throws(DiskFailure) {
        guard Self.isReplaceable(path) else {
            throw DiskFailure(.irregular, "cannot replace \(path): it is no regular file")
        }
    }

    /// Whether there is a regular file, or nothing.
    private static func isReplaceable(_ path: String) -> Bool {
        var facts = stat()
        guard unsafe lstat(path, &facts) == 0 else { return true }
        return facts.st_mode & S_IFMT == S_IFREG
    }

    package func syncFolder(_ path: String) throws(DiskFailure) {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last("open the folder", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .last("sync the folder", path) }
    }

    package func remove(_ path: String) throws(DiskFailure) {
        guard unsafe unlink(path) != 0, errno != ENOENT else { return }
        guard unsafe rmdir(path) != 0 else { return }
        throw .last("remove", path)
    }

    package func freeSpace(at folder: String) throws(DiskFailure) -> Int64 {
        var facts = statvfs()
        guard unsafe statvfs(folder, &facts) == 0 else { throw .last("look at", folder) }
        let (size, overflow) = Int64(clamping: facts.f_bavail)
            .multipliedReportingOverflow(by: Int64(clamping: facts.f_frsize))
        return overflow ? .max : size
    }
}

/// A descriptor that is closed with it.
private final class SystemDiskFile: DiskFile {
    private let descriptor: Int32
    private let path: String

    init(_ descriptor: Int32, _ path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    func read(at offset: Int64, count: Int) throws(DiskFailure) -> [UInt8] {
        var failure: DiskFailure?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { space, filled in
            while filled < count {
                let read = unsafe pread(
                    descriptor, space.baseAddress.map { unsafe $0 + filled }, count - filled,
                    off_t(offset) + filled)
                if read < 0, errno == EINTR { continue }
                if read < 0 { failure = .last("read", path) }
                guard read > 0 else { return }
                filled += read
            }
        }
        if let failure { throw failure }
        return bytes
    }

    func write(_ bytes: Span<UInt8>, at offset: Int64) throws(DiskFailure) {
        let failure: DiskFailure? = unsafe bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = unsafe pwrite(
                    descriptor, bytes.baseAddress.map { unsafe $0 + written },
                    min(Self.writeSize, bytes.count - written), off_t(offset) + written)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return .last("write", path) }
                written += count
            }
            return nil
        }
        if let failure { throw failure }
    }

    /// In bytes. For more at once the kernel looks for larger folios, of memory that was not used lately: in
    /// a virtual machine that took twice as long.
    private static let writeSize = 16_384

    /// Its time as well, by which it may have to be known again (`VerifiedContent`).
    func sync() throws(DiskFailure) {
        guard fsync(descriptor) == 0 else { throw .last("sync", path) }
    }

    func truncate(to size: Int64) throws(DiskFailure) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw .last("cut", path) }
    }

    func size() throws(DiskFailure) -> Int64 {
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else { throw .last("look at", path) }
        return Int64(facts.st_size)
    }

    func isThere(_ path: String) throws(DiskFailure) -> Bool {
        let own = try identity()
        var facts = stat()
        return unsafe lstat(path, &facts) == 0 && UInt64(facts.st_dev) == own.device
            && UInt64(facts.st_ino) == own.inode
    }

    func identity() throws(DiskFailure) -> FileIdentity {
        guard let identity = FileIdentity(descriptor: descriptor) else {
            throw .last("look at", path)
        }
        return identity
    }
}

extension SystemDiskFile {
    func claim() throws(DiskFailure) -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        guard errno == EWOULDBLOCK else { throw .last("lock", path) }
        return false
    }
}

extension DiskFailure {
    /// What `errno` says.
    fileprivate static func last(_ what: String, _ path: String) -> DiskFailure {
        let number = errno
        let kind: Kind =
            switch number {
            case ENOSPC, EDQUOT, EFBIG: .full
            case EIO, EMFILE, ENFILE, ENOMEM: .broken
            case ENOENT, ENOTDIR: .missing
            case EEXIST, ENOTEMPTY: .exists
            case EXDEV: .otherDisk
            default: .other
            }
        let reason = unsafe String(cString: strerror(number)).lowercased()
        return DiskFailure(kind, "cannot \(what) \(path): \(reason)")
    }
}
