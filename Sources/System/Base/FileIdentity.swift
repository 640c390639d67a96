#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Which version of which file: two that are equal have the same bytes, as far as the file system
/// can tell.
package struct FileIdentity: Sendable, Hashable {
    package let device: UInt64
    package let inode: UInt64
    /// In bytes.
    package let size: UInt64
    /// In nanoseconds since 1970.
    package let modified: Int64
    /// When anything of the inode changed, which no program can set back; in nanoseconds.
    package let changed: Int64

    package init(device: UInt64, inode: UInt64, size: UInt64, modified: Int64, changed: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }

    /// That of an open file; `nil` if it cannot be had, with the reason in `errno`.
    package init?(descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        size = UInt64(max(0, status.st_size))
        #if canImport(Glibc)
            modified = Self.nanoseconds(status.st_mtim)
            changed = Self.nanoseconds(status.st_ctim)
        #else
            modified = Self.nanoseconds(status.st_mtimespec)
            changed = Self.nanoseconds(status.st_ctimespec)
        #endif
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
