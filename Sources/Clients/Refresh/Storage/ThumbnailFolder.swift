internal import Base
internal import TLS

/// Small pictures, each a file, of which the oldest are removed when there are too many.
final class ThumbnailFolder {
    private let path: String
    /// The oldest first.
    private var names: [String]
    /// Each has 64 KiB at most: 64 MiB.
    static let countLimit = 1024

    /// - Parameter used: what items refer to, the oldest first; all others go before them.
    ///
    /// Errors: `file-unreadable`, `file-unwritable`.
    init(_ path: String, used: [String]) throws(Failure) {
        self.path = path
        try Files.makeFolder(path)
        let found = try Files.names(inFolder: path, countLimit: Self.foundLimit)
            .filter { !$0.hasSuffix("/") }
        let unused = Set(found).subtracting(used)
        var ordered: Set<String> = []
        let newestFirst = used.reversed().filter {
            ordered.insert($0).inserted
        }
        let existing = Set(found)
        names = unused.sorted() + newestFirst.reversed().filter(existing.contains)
        makeRoom(for: 0)
    }

    /// Keeps a picture in place of the one of the same URL, if there is one.
    ///
    /// - Returns: its name.
    ///
    /// Errors: `file-unwritable`.
    func keep(_ url: String, _ bytes: [UInt8]) throws(Failure) -> String {
        let name = Array(Digests.sha256([UInt8](url.utf8)).prefix(16)).hex
        names.removeAll { $0 == name }
        makeRoom(for: 1)
        try Files.replace("\(path)/\(name)", bytes)
        names.append(name)
        return name
    }

    private func makeRoom(for count: Int) {
        let surplus = names.count + count - Self.countLimit
        guard surplus > 0 else { return }
        for name in names.prefix(surplus) { Files.remove("\(path)/\(name)") }
        names.removeFirst(surplus)
    }

    /// Earlier versions kept any number.
    private static let foundLimit = 1_000_000
}
