#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Which file a path leads to, whatever is in it. As long as the file is open nothing else has its
/// place, even if its path has gone.
package struct FilePlace: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64

    /// That of what is at a path, where a link is itself; `nil` if nothing is there, or cannot be looked
    /// at.
    package init?(_ path: String) {
        var facts = stat()
        guard unsafe lstat(path, &facts) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: facts.st_dev)
        inode = UInt64(truncatingIfNeeded: facts.st_ino)
    }
}
