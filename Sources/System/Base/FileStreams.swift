#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// How a command reads and writes files that may be too long to be held.
package struct FileStreams: Sendable {
    /// Opens a file; `-` is the standard input. Errors: `file-unreadable`.
    package var open: @Sendable (_ path: String) throws(Failure) -> InputFile
    /// Makes a new file that only its owner may read; an existing one is refused.
    ///
    /// Errors: `file-unwritable`.
    package var create: @Sendable (_ path: String) throws(Failure) -> OutputFile

    package init(
        open: @escaping @Sendable (String) throws(Failure) -> InputFile,
        create: @escaping @Sendable (String) throws(Failure) -> OutputFile
    ) {
        self.open = open
        self.create = create
    }

    /// Those of this machine.
    package static let ofSystem = FileStreams { path throws(Failure) in
        try InputFile(path: path)
    } create: { path throws(Failure) in
        try OutputFile(path: path)
    }
}

/// A file being read.
package final class InputFile {
    /// How long it is, in bytes; `nil` for what has no length, such as a pipe.
    package let size: Int64?
    private let take: () throws(Failure) -> [UInt8]

    package init(size: Int64?, read: @escaping () throws(Failure) -> [UInt8]) {
        self.size = size
        take = read
    }

    /// Errors: `file-unreadable`.
    package convenience init(path: String) throws(Failure) {
        let descriptor = try OwnedDescriptor(
            path == "-" ? "/dev/stdin" : path, O_RDONLY, "file-unreadable", "cannot read \(path)")
        var facts = stat()
        let isFile =
            unsafe fstat(descriptor.number, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
        self.init(size: isFile ? Int64(facts.st_size) : nil) { () throws(Failure) in
            try descriptor.read(byteLimit: 256 << 10)
        }
    }

    /// Returns the next bytes, none at the end. Errors: `file-unreadable`.
    package func read() throws(Failure) -> [UInt8] { try take() }
}

/// A file being written.
package final class OutputFile {
    private let put: ([UInt8]) throws(Failure) -> Void
    private let end: () throws(Failure) -> Void
    private let drop: () -> Void

    package init(
        write: @escaping ([UInt8]) throws(Failure) -> Void,
        finish: @escaping () throws(Failure) -> Void, discard: @escaping () -> Void
    ) {
        put = write
        end = finish
        drop = discard
    }

    /// It has its name only once it is finished, so that what is not whole is never taken for what
    /// is, and nothing is left of it, whatever ends the process. Where the file system knows no
    /// files without a name, it has random letters and `.new` behind its name until then.
    ///
    /// Errors: `file-unwritable`.
    package convenience init(path: String) throws(Failure) {
        let what = "cannot create \(path)"
        guard !Files.exists(path) else { throw Self.inTheWay(what) }
        let (descriptor, temporary) = try Self.create(beside: path, what)
        self.init { bytes throws(Failure) in
            try descriptor.write(bytes)
        } finish: { () throws(Failure) in
            try descriptor.synchronize()
            guard let temporary else {
                guard descriptor.link(as: path) else {
                    throw errno == EEXIST ? Self.inTheWay(what) : descriptor.failure()
                }
                return
            }
            // Not every file system has links; a name alone is taken there in two steps.
            if unsafe link(temporary, path) == 0 {
                unsafe unlink(temporary)
            } else if errno == EEXIST || Files.exists(path) {
                throw Self.inTheWay(what)
            } else if !Files.move(temporary, to: path) {
                throw descriptor.failure()
            }
        } discard: {
            if let temporary { unsafe unlink(temporary) }
        }
    }

    /// Makes the file, without a name if that can be.
    private static func create(
        beside path: String, _ what: String
    ) throws(Failure) -> (OwnedDescriptor, temporary: String?) {
        if let nameless = OwnedDescriptor.nameless(beside: path, "file-unwritable", what) {
            return (nameless, nil)
        }
        let temporary = Files.temporaryName(for: path)
        let descriptor = try OwnedDescriptor(
            temporary, O_WRONLY | O_CREAT | O_EXCL, "file-unwritable", what)
        return (descriptor, temporary)
    }

    private static func inTheWay(_ what: String) -> Failure {
        Failure(
            "file-unwritable", party: .tool, "\(what): file exists",
            hint: "name another one, or remove this one first")
    }

    package func write(_ bytes: [UInt8]) throws(Failure) { try put(bytes) }

    /// Waits until all is on the disk, and gives it its name. Errors: `file-unwritable`.
    package func finish() throws(Failure) { try end() }

    /// Removes the file, which is not whole.
    package func discard() { drop() }
}

/// A descriptor that is closed when nobody has it any more.
private final class OwnedDescriptor {
    let number: Int32
    private let code: String
    private let what: String
    /// How much was written since the disk was waited for, in bytes.
    private var unsent = 0

    init(_ path: String, _ flags: Int32, _ code: String, _ what: String) throws(Failure) {
        number = unsafe open(path, flags | O_CLOEXEC, 0o600)
        self.code = code
        self.what = what
        if number < 0 { throw failure() }
    }

    private init(owning number: Int32, _ code: String, _ what: String) {
        self.number = number
        self.code = code
        self.what = what
    }

    /// A file in the folder of `path` that has no name until `link`; `nil` if that cannot be.
    static func nameless(beside path: String, _ code: String, _ what: String) -> OwnedDescriptor? {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let number = unsafe open(
            folder, O_WRONLY | Self.namelessFile | O_CLOEXEC, 0o600)
        guard number >= 0 else { return nil }
        let made = OwnedDescriptor(owning: number, code, what)
        return unsafe access(made.place, F_OK) == 0 ? made : nil
    }

    private var place: String { "/proc/self/fd/\(number)" }

    /// Gives the file a name that nothing else has; `errno` tells why it could not.
    func link(as path: String) -> Bool {
        unsafe linkat(AT_FDCWD, place, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
    }

    deinit {
        if number >= 0 { close(number) }
    }

    func read(byteLimit: Int) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: byteLimit)
        while true {
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe Glibc.read(number, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure() }
            bytes.removeLast(byteLimit - count)
            return bytes
        }
    }

    func write(_ bytes: [UInt8]) throws(Failure) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(
                    number, $0.baseAddress.map { unsafe $0 + written }, $0.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure() }
            written += count
        }
        unsent += written
        // All of a long file at its end would keep whoever interrupts it waiting.
        if unsent >= Self.window { try synchronize() }
    }

    /// In bytes: most disks take so much in a part of a second.
    private static let window = 8 << 20
    /// O_TMPFILE, whose macro Swift cannot see.
    private static let namelessFile = 0o20_000_000 | O_DIRECTORY

    func synchronize() throws(Failure) {
        unsent = 0
        // What is no file, such as a terminal, has nothing to wait for.
        if fsync(number) != 0, errno != EINVAL { throw failure() }
    }

    func failure() -> Failure {
        let reason = unsafe String(cString: strerror(errno)).lowercased()
        return Failure(code, party: .tool, "\(what): \(reason)")
    }
}
