package import Base
package import HTTPServer

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// An open regular file. `Sendable` because it is immutable and read at explicit offsets.
package final class FileAsset: Sendable {
    private let descriptor: Int32
    package let identity: FileIdentity

    fileprivate init(owning descriptor: Int32, _ identity: FileIdentity) {
        self.descriptor = descriptor
        self.identity = identity
    }

    deinit {
        close(descriptor)
    }

    /// Whether nothing has changed since the file was opened.
    package var isUnchanged: Bool { FileIdentity(descriptor: descriptor) == identity }

    /// Appends at most `limit` bytes from `offset` on and returns how many; 0 is the end.
    ///
    /// Errors: `file-unreadable`.
    fileprivate func read(
        into buffer: ByteBuffer, offset: UInt64, limit: UInt64
    ) throws(Failure) -> Int {
        try unsafe buffer.fill { (space) throws(Failure) in
            let count = Int(min(UInt64(space.count), limit))
            while true {
                let got = unsafe pread(descriptor, space.baseAddress, count, off_t(offset))
                if got >= 0 { return got }
                guard errno == EINTR else {
                    throw Failure(
                        "file-unreadable", party: .tool, "cannot read the file: error \(errno)")
                }
            }
        }
    }
}

/// Streams a range of a file.
package final class FileSource: ResponseBodySource {
    private let file: FileAsset
    private var offset: UInt64
    private let end: UInt64

    package init(_ file: FileAsset, range: Range<UInt64>) {
        self.file = file
        offset = range.lowerBound
        end = range.upperBound
    }

    package func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        guard offset < end else { return 0 }
        do throws(Failure) {
            let count = try file.read(into: buffer, offset: offset, limit: end - offset)
            guard count > 0 else {
                throw Failure("file-shrank", party: .tool, "the file became shorter")
            }
            offset += UInt64(count)
            return count
        } catch {
            throw ResponseInterruption(.close, cause: error)
        }
    }
}

/// A folder whose files are served, and nothing outside of it.
///
/// Every path is walked from the folder's own descriptor, one name at a time, and no symbolic link
/// is ever followed: there is no moment between a check and its use. `Sendable` because it is
/// immutable.
package final class Folder: Sendable {
    /// What a path leads to.
    package enum Entry: Sendable {
        case file(FileAsset)
        case folder(Folder)
    }

    private let descriptor: Int32

    private init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Errors: `folder-unreadable`.
    package init(path: String) throws(Failure) {
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let reason = unsafe String(cString: strerror(errno)).lowercased()
            throw Failure(
                "folder-unreadable", party: .tool, "cannot open the folder \(path): \(reason)")
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Opens what these decoded names lead to; `nil` if there is nothing, if a name is no name of
    /// a file, if a symbolic link is on the way, or if it is neither a file nor a folder.
    package func entry(_ names: some Collection<[UInt8]>) -> Entry? {
        var entry = Entry.folder(self)
        for name in names {
            guard case .folder(let folder) = entry, let next = folder.child(name) else {
                return nil
            }
            entry = next
        }
        return entry
    }

    private func child(_ name: [UInt8]) -> Entry? {
        guard Self.isSafe(name) else { return nil }
        let text = (name + [0]).map { CChar(bitPattern: $0) }
        // A FIFO without a writer must not stop the loop, nor a terminal become the process's own.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let opened = unsafe text.withUnsafeBufferPointer {
            unsafe $0.baseAddress.map { unsafe openat(descriptor, $0, flags) } ?? -1
        }
        guard opened >= 0 else { return nil }
        var status = stat()
        if unsafe fstat(opened, &status) == 0 {
            switch status.st_mode & S_IFMT {
            case S_IFREG:
                guard let identity = FileIdentity(descriptor: opened) else { break }
                return .file(FileAsset(owning: opened, identity))
            case S_IFDIR: return .folder(Folder(owning: opened))
            default: break
            }
        }
        close(opened)
        return nil
    }

    private static func isSafe(_ name: [UInt8]) -> Bool {
        !name.isEmpty && name.count <= 255 && !name.contains(0)
            && !name.contains(UInt8(ascii: "/")) && !name.elementsEqual(".".utf8)
            && !name.elementsEqual("..".utf8)
    }

    /// The names in the folder in byte order, folders with a slash at the end; symbolic links and
    /// what is neither file nor folder are left out.
    ///
    /// - Parameter limit: how many names are read.
    package func names(limit: Int) -> [[UInt8]] {
        // A descriptor of its own, for reading moves its offset.
        let copy = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return [] }
        guard let stream = unsafe fdopendir(copy) else {
            close(copy)
            return []
        }
        defer { unsafe closedir(stream) }
        var names: [[UInt8]] = []
        while names.count < limit, let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
                unsafe [UInt8]($0.prefix { $0 != 0 })
            }
            guard Self.isSafe(name) else { continue }
            let kind = unsafe Int32(entry.pointee.d_type)
            if kind == Int32(DT_DIR) {
                names.append(name + [UInt8(ascii: "/")])
            } else if kind == Int32(DT_REG) {
                names.append(name)
            }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }
}
