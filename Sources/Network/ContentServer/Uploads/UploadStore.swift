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
    /// The same folder, to read from.
    private let folder: Folder
    /// Locked while the server runs: two that append to one file would not see each other.
    private let descriptor: Int32
    /// Whoever gives a name its files, or takes them away, does so under this lock: a name and what
    /// is on the disk for it change at once. An upload's own lock is taken within it, never the other
    /// way round.
    let state: Mutex<State>
    /// Of all uploads. Apart, because appends count while they hold their upload's lock.
    private let byteCount: Mutex<UInt64>

    struct State {
        var uploads: [String: StoredUpload] = [:]
        /// Uploads whose files have no name yet.
        var unnamedCount = 0
        /// Uploads by the clients that made them, for names that do not depend on other clients.
        var made: [String: UInt64] = [:]
    }

    /// Opens a folder, or makes it, and finds the uploads in it.
    ///
    /// Errors: `folder-unreadable`, `file-unwritable`, `file-unreadable`.
    package init(path: String, limits: Limits = Limits()) throws(Failure) {
        descriptor = try UploadFolder.lock(path)
        self.path = path
        self.limits = limits
        var found = State()
        var count: UInt64 = 0
        do throws(Failure) {
            folder = try Folder(path: path)
            for upload in try UploadFolder.uploads(in: path) {
                found.uploads[upload.name] = upload
                count += upload.facts.offset
            }
        } catch {
            close(descriptor)
            throw error
        }
        state = Mutex(found)
        byteCount = Mutex(count)
    }

    deinit { close(descriptor) }

    // MARK: Finding

    subscript(name: [UInt8]) -> StoredUpload? {
        guard Self.isName(name) else { return nil }
        return state.withLock { $0.uploads[name.text] }
    }

    /// In the order of their names.
    var all: [StoredUpload] {
        state.withLock { Array($0.uploads.values) }.sorted { $0.name < $1.name }
    }

    /// Whether it was neither removed nor replaced.
    func has(_ upload: StoredUpload) -> Bool {
        state.withLock { $0.uploads[upload.name] === upload }
    }

    /// What is known of an upload, and its file, which has at least the bytes that count.
    ///
    /// - Returns: `nil` if it was removed or replaced, or somebody has taken its file away.
    func opened(_ upload: StoredUpload) -> (facts: StoredUpload.Facts, file: FileAsset)? {
        state.withLock { $0.uploads[upload.name] === upload ? openFile(upload) : nil }
    }

    /// The same for whatever upload has the name now.
    func opened(_ name: [UInt8]) -> (facts: StoredUpload.Facts, file: FileAsset)? {
        state.withLock { $0.uploads[name.text].flatMap(openFile) }
    }

    /// Opens the data file to append to it, under the lock: else it could be another's by now.
    ///
    /// - Returns: the descriptor, which is the caller's; `nil` if the upload was removed or replaced,
    ///   or somebody has taken its file away.
    func openedForAppends(_ upload: StoredUpload) -> Int32? {
        state.withLock { state in
            guard state.uploads[upload.name] === upload else { return nil }
            // What somebody has put there instead, such as a named pipe, is not waited for.
            let descriptor = unsafe open(
                upload.dataPath, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            return descriptor >= 0 ? descriptor : nil
        }
    }

    /// Under the lock: else the file could be another's by now.
    private func openFile(
        _ upload: StoredUpload
    ) -> (facts: StoredUpload.Facts, file: FileAsset)? {
        let facts = upload.facts
        guard case .file(let file)? = folder.entry([[UInt8](upload.name.utf8)]),
            file.identity.size >= facts.offset
        else { return nil }
        return (facts, file)
    }

    /// Whether one of them is complete with this digest, in hexadecimal.
    package func holds(sha256: String) -> Bool {
        all.contains { $0.facts.digest == sha256 }
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
        try reserve()
        do throws(Failure) {
            let files = try UnnamedFiles(record, in: path)
            defer { files.remove() }
            for number in 1...Self.tries {
                let name =
                    number == 1
                    ? base
                    : number < Self.tries
                        ? "\(base)-\(number)"
                        : Self.hexadecimal(draws.next())
                let upload = StoredUpload(name: name, folder: path, record: record, size: 0)
                if try add(upload, files) { return upload }
            }
            throw full("no name is free")
        } catch {
            state.withLock { $0.unnamedCount -= 1 }
            throw error
        }
    }

    private func reserve() throws(Failure) {
        try state.withLock { (state) throws(Failure) in
            let count = state.uploads.count + state.unnamedCount
            guard count < limits.count else { throw full("there are \(count) uploads") }
            state.unnamedCount += 1
        }
    }

    /// Gives the files the upload's name.
    ///
    /// - Returns: `false` if anything has the name, be it an upload, somebody's file or a link.
    private func add(_ upload: StoredUpload, _ files: UnnamedFiles) throws(Failure) -> Bool {
        try state.withLock { (state) throws(Failure) in
            guard state.uploads[upload.name] == nil, Self.isFree(upload) else { return false }
            // A state without data is nobody's, and goes at the next start.
            guard Files.move(files.state, to: upload.statePath) else { throw unnamable(upload) }
            guard Files.move(files.data, to: upload.dataPath) else {
                Files.remove(upload.statePath)
                throw unnamable(upload)
            }
            state.uploads[upload.name] = upload
            state.unnamedCount -= 1
            return true
        }
    }

    static func isFree(_ upload: StoredUpload) -> Bool {
        FilePlace(upload.dataPath) == nil && FilePlace(upload.statePath) == nil
    }

    func unnamable(_ upload: StoredUpload) -> Failure {
        Failure("file-unwritable", party: .tool, "cannot name the upload \(upload.dataPath)")
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
        try byteCount.withLock { (sum) throws(Failure) in
            guard count <= limits.byteCount, sum <= limits.byteCount - count else {
                throw full("the uploads have \(sum) bytes, and \(count) more came")
            }
            sum += count
        }
    }

    /// Errors: `file-unwritable`, `upload-removed`.
    func sync(_ upload: StoredUpload) throws(Failure) {
        guard let descriptor = openedForAppends(upload) else { throw Self.removed }
        defer { close(descriptor) }
        try Self.sync(descriptor)
    }

    /// Errors: `file-unwritable`.
    static func sync(_ descriptor: Int32) throws(Failure) {
        guard fsync(descriptor) == 0 else {
            throw Failure("file-unwritable", party: .tool, "cannot write the upload to the disk")
        }
    }

    func give(_ count: UInt64) {
        byteCount.withLock { $0 -= min(count, $0) }
    }

    private static let nameLimit = 120
    private static let tries = 1000
}
