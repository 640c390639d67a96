package import Base
internal import HTTPServer
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The uploads of all clients, in one folder that outlives the process, or does not.
package final class UploadStore: Sendable {
    package struct Limits: Sendable {
        /// Of all uploads together, in bytes.
        package var byteCount: UInt64 = 1 << 30
        /// How many uploads there are at once, so that names and state files have a bound.
        package var count = 2000
        /// How long an upload may take that is not complete, in seconds: a day.
        package var age: Int64 = 86_400
        /// After so many bytes a client is told how far it is, once they are on the disk.
        package var interval: UInt64 = 4 << 20

        package init() {}
    }

    let limits: Limits
    let path: String
    /// Locked while the server runs: two that append to one file would not see each other.
    private let descriptor: Int32
    private let state: Mutex<State>

    private struct State {
        var uploads: [String: StoredUpload] = [:]
        var byteCount: UInt64 = 0
        /// Uploads by the clients that made them, for names that do not depend on other clients.
        var made: [String: UInt64] = [:]
    }

    /// Opens a folder, or makes it, and finds the uploads in it.
    ///
    /// Errors: `folder-unreadable`, `file-unwritable`, `file-unreadable`.
    package init(path: String, limits: Limits = Limits()) throws(Failure) {
        try Files.makeFolder(path)
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let reason = unsafe String(cString: strerror(errno)).lowercased()
            throw Failure(
                "folder-unreadable", party: .tool, "cannot open the folder \(path): \(reason)")
        }
        guard unsafe access(path, W_OK | X_OK) == 0 else {
            close(descriptor)
            throw Failure(
                "file-unwritable", party: .tool,
                "no uploads can be kept in \(path): it may not be"
                    + " written to", hint: "give another folder by --uploads")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw Failure(
                "folder-unreadable", party: .tool, "another server keeps its uploads in \(path)",
                hint: "end it, or give another folder by --uploads")
        }
        self.path = path
        self.limits = limits
        var found = State()
        do throws(Failure) {
            for name in try Files.names(inFolder: path, countLimit: 100_000) {
                guard let upload = try Self.read(name, path) else { continue }
                found.uploads[upload.name] = upload
                found.byteCount += upload.facts.offset
            }
        } catch {
            close(descriptor)
            throw error
        }
        state = Mutex(found)
    }

    deinit { close(descriptor) }

    /// The upload of a state file; `nil` for any other file.
    private static func read(_ file: String, _ folder: String) throws(Failure) -> StoredUpload? {
        guard file.hasPrefix("."), file.hasSuffix(".upload") else { return nil }
        let name = String(file.dropFirst().dropLast(".upload".utf8.count))
        guard isName([UInt8](name.utf8)),
            let bytes = try Files.readOwn("\(folder)/\(file)", byteLimit: 65_536),
            var record = UploadRecord(bytes)
        else { return nil }
        let path = "\(folder)/\(name)"
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
            if checked < size {
                guard ftruncate(descriptor, off_t(checked)) == 0 else { return nil }
                size = checked
            }
            record.checkedCount = nil
        }
        return StoredUpload(name: name, folder: folder, record: record, size: size)
    }

    // MARK: Finding

    subscript(name: [UInt8]) -> StoredUpload? {
        guard Self.isName(name) else { return nil }
        return state.withLock { $0.uploads[name.text] }
    }

    /// In the order of their names.
    var all: [StoredUpload] {
        state.withLock { Array($0.uploads.values) }.sorted { $0.name < $1.name }
    }

    /// Whether one of them is complete with this digest, in hexadecimal.
    package func holds(sha256: String) -> Bool {
        all.contains { $0.facts.record.sha256 == sha256 }
    }

    /// Letters, digits, and between them `.`, `_` and `-`: no path, and no hidden file.
    static func isName(_ name: [UInt8]) -> Bool {
        (1...nameLimit).contains(name.count) && name.first != UInt8(ascii: ".")
            && name.allSatisfy { isOfName($0) }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || [0x2D, 0x2E, 0x5F].contains(byte)
    }

    // MARK: Making

    /// Makes an upload without a byte; waits for the disk.
    ///
    /// - Parameters:
    ///   - wish: the name that the client has for it; another is found if it is taken.
    ///   - now: in seconds since 1970; uploads whose time is over make room.
    ///
    /// Errors: `uploads-full`, `file-unwritable`.
    func make(
        _ wish: [UInt8]?, _ record: UploadRecord, client: String, seed: UInt64, now: Int64
    ) throws(Failure) -> StoredUpload {
        for upload in all where Self.isOver(upload.facts.record, now: now) { remove(upload) }
        if let length = record.length, length > limits.byteCount {
            throw full("the upload is \(length) bytes")
        }
        let drawn = state.withLock { state -> UInt64 in
            // Clients choose their labels: those that come too late are counted as one.
            let key = state.made.count < 10_000 || state.made[client] != nil ? client : ""
            state.made[key, default: 0] += 1
            return state.made[key] ?? 1
        }
        var draws = FaultDraws(seed: seed, rule: "upload", client: client, ordinal: drawn)
        let base = wish.map(Self.name) ?? Self.hexadecimal(draws.next())
        let text = [UInt8](record.text.utf8)
        for number in 1...Self.tries {
            let name =
                number == 1
                ? base
                : number < Self.tries
                    ? "\(base)-\(number)"
                    : Self.hexadecimal(draws.next())
            let upload = StoredUpload(name: name, folder: path, record: record, size: 0)
            let isFree = try state.withLock { (state) throws(Failure) in
                guard state.uploads.count < limits.count else {
                    throw full("there are \(state.uploads.count) uploads")
                }
                guard state.uploads[name] == nil, !Files.exists(upload.dataPath) else {
                    return false
                }
                state.uploads[name] = upload
                return true
            }
            guard isFree else { continue }
            do throws(Failure) {
                try Files.create(upload.dataPath, [])
                try Files.replace(upload.statePath, text)
            } catch {
                remove(upload)
                throw error
            }
            return upload
        }
        throw full("no name is free")
    }

    private static func hexadecimal(_ word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// A client's name for its file with the bytes replaced that no name of ours has.
    private static func name(_ wish: [UInt8]) -> String {
        let shown = wish.suffix(nameLimit - 8).map { isOfName($0) ? $0 : UInt8(ascii: "_") }
        let start = shown.drop { $0 == UInt8(ascii: ".") }
        return start.isEmpty ? "upload" : start.text
    }

    private func full(_ what: String) -> Failure {
        Failure(
            "uploads-full", party: .client,
            "\(what), and all together may be \(limits.byteCount) bytes in \(limits.count) files;"
                + " remove some by DELETE, or start the server with another --uploads-limit")
    }

    /// Whether the upload was not complete in its time.
    static func isOver(_ record: UploadRecord, now: Int64) -> Bool {
        !record.isComplete && record.expiry <= now
    }

    // MARK: Bytes

    /// Errors: `uploads-full`.
    func take(_ count: UInt64) throws(Failure) {
        try state.withLock { (state) throws(Failure) in
            guard count <= limits.byteCount, state.byteCount <= limits.byteCount - count else {
                throw full("the uploads have \(state.byteCount) bytes, and \(count) more came")
            }
            state.byteCount += count
        }
    }

    func give(_ count: UInt64) {
        state.withLock { $0.byteCount -= min(count, $0.byteCount) }
    }

    func remove(_ upload: StoredUpload) {
        guard let count = upload.retire() else { return }
        // The state file first: data without it is nobody's.
        Files.remove(upload.statePath)
        Files.remove(upload.dataPath)
        state.withLock { state in
            if state.uploads[upload.name] === upload { state.uploads[upload.name] = nil }
        }
        give(count)
    }

    /// Gives an upload another name, in the place of the upload that has it; waits for the disk.
    ///
    /// - Returns: the upload under its own name if a file that is no upload has the other.
    ///
    /// Errors: `file-unwritable`.
    func move(_ upload: StoredUpload, to name: String) throws(Failure) -> StoredUpload {
        if let old = self[[UInt8](name.utf8)] { remove(old) }
        guard !Files.exists("\(path)/\(name)") else { return upload }
        let facts = upload.facts
        let moved = StoredUpload(
            name: name, folder: path, record: facts.record, size: facts.offset)
        // Data first: a state file without data is nobody's.
        guard !Files.exists(moved.statePath), Files.move(upload.dataPath, to: moved.dataPath),
            Files.move(upload.statePath, to: moved.statePath)
        else {
            throw Failure(
                "file-unwritable", party: .tool, "cannot name the upload \(moved.dataPath)")
        }
        _ = upload.retire()
        state.withLock { state in
            state.uploads[upload.name] = nil
            state.uploads[name] = moved
        }
        return moved
    }

    /// The whole of an upload, to be read.
    func file(of upload: StoredUpload) -> FileAsset? {
        do throws(Failure) {
            guard case .file(let file)? = try Folder(path: path).entry([[UInt8](upload.name.utf8)])
            else { return nil }
            return file
        } catch {
            return nil
        }
    }

    private static let nameLimit = 120
    private static let tries = 1000
}
