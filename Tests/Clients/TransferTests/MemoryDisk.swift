import Base
import Synchronization
import Transfer

/// A disk in memory that keeps apart what is written and what would be there after a crash, and does
/// what a test tells it to.
final class MemoryDisk: TransferDisk {
    final class Node: Sendable {
        let content = Mutex<Content>(Content())
        let inode: UInt64

        private static let lastInode = Mutex<UInt64>(0)

        /// - Parameter other: whose place on the disk it has; `nil` for a new one.
        init(as other: Node? = nil) {
            inode =
                other?.inode
                ?? Self.lastInode.withLock { last in
                    last += 1
                    return last
                }
        }

        struct Content {
            var bytes: [UInt8] = []
            /// As the last sync has left it.
            var durable: [UInt8] = []
            /// Counts changes, in the place of a time.
            var version: Int64 = 0
            /// How often somebody has set the time back.
            var setBackCount: Int64 = 0
        }
    }

    private struct State {
        var files: [String: Node] = [:]
        var durable: [String: Node] = [:]
        var folders: Set<String> = ["/"]
        var operations = 0
        /// The names of the operations that change something, in order.
        var log: [String] = []
        /// In bytes.
        var lastWrite = 0
        /// Nothing is done from this operation on, as if the power had gone.
        var stopsAt = Int.max
        /// Behind the first operation of this name, and so many more.
        var stopsBehind: (name: String, count: Int)?
        var space: Int64 = 1 << 40
        var breaks: DiskFailure?
        var claims: [String: Int64] = [:]
        /// What others put in the place of a file that is renamed.
        var intruder: Node?
    }

    private let state = Mutex<State>(State())

    var isSlow: Bool { false }
    fileprivate func node(_ path: String) -> Node? { state.withLock { $0.files[path] } }
    var lastWrite: Int { state.withLock { $0.lastWrite } }
    var log: [String] { state.withLock { $0.log } }
    var isStopped: Bool { state.withLock { $0.operations >= $0.stopsAt } }

    init() {}

    /// What would be there if the power went now: with all that was written, or only with what was
    /// synced.
    init(afterCrashOf other: MemoryDisk, losesUnsynced: Bool, tearing: (String, Int)? = nil) {
        let old = other.state.withLock { $0 }
        state.withLock { state in
            state.folders = old.folders
            var copies: [ObjectIdentifier: Node] = [:]
            for (path, node) in losesUnsynced ? old.durable : old.files {
                let copy = copies[ObjectIdentifier(node)] ?? Node(as: node)
                copies[ObjectIdentifier(node)] = copy
                let content = node.content.withLock { $0 }
                var bytes = losesUnsynced ? content.durable : content.bytes
                if let (suffix, count) = tearing, path.hasSuffix(suffix) {
                    bytes.removeLast(min(count, bytes.count))
                }
                copy.content.withLock {
                    $0 = Node.Content(bytes: bytes, durable: bytes, version: content.version)
                }
                state.files[path] = copy
            }
            state.durable = state.files
        }
    }

    func stop(at operation: Int) { state.withLock { $0.stopsAt = operation } }
    func stop(behind name: String, _ count: Int) {
        state.withLock { $0.stopsBehind = (name, count) }
    }
    /// Changes a file so that neither its size nor its time tells.
    func exchangeUnseen(_ path: String, _ bytes: [UInt8]) {
        state.withLock { $0.files[path] }?.content.withLock { $0.bytes = bytes }
    }
    /// Changes a file and sets its time back, as its owner can.
    func exchangeInPlace(_ path: String, _ bytes: [UInt8]) {
        state.withLock { $0.files[path] }?.content.withLock { content in
            content.bytes = bytes
            content.setBackCount += 1
        }
    }
    func setSpace(_ space: Int64) { state.withLock { $0.space = space } }
    /// Tells another size of a file than it has.
    func claim(_ size: Int64, of path: String) { state.withLock { $0.claims[path] = size } }
    /// Puts another file in the place of each that is renamed without a link.
    func exchangeRenamed(_ bytes: [UInt8]) {
        let node = Node()
        node.content.withLock { $0.bytes = bytes }
        state.withLock { $0.intruder = node }
    }
    func setFailure(_ failure: DiskFailure?) { state.withLock { $0.breaks = failure } }
    var paths: [String] { state.withLock { $0.files.keys.sorted() } }

    /// Counts an operation that changes something.
    fileprivate func change(_ name: String) throws(DiskFailure) {
        let failure = state.withLock { state -> DiskFailure? in
            if let failure = state.breaks { return failure }
            guard state.operations < state.stopsAt else {
                return DiskFailure(.broken, "the power has gone")
            }
            state.operations += 1
            state.log.append(name)
            if let (last, count) = state.stopsBehind, last == name {
                state.stopsAt = min(state.stopsAt, state.operations + count)
            }
            return nil
        }
        if let failure { throw failure }
    }

    fileprivate func noteWrite(_ count: Int) { state.withLock { $0.lastWrite = count } }

    fileprivate func grow(_ count: Int64) throws(DiskFailure) {
        let isFull = state.withLock { state in
            guard state.space >= count else { return true }
            state.space -= count
            return false
        }
        if isFull { throw DiskFailure(.full, "no space left") }
    }

    func open(_ path: String, creating: Bool) throws(DiskFailure) -> any DiskFile {
        if let node = state.withLock({ $0.files[path] }) { return MemoryFile(node, path, self) }
        guard creating else { throw DiskFailure(.missing, "there is no \(path)") }
        try change("create \(Self.name(path))")
        let node = Node()
        state.withLock { $0.files[path] = node }
        return MemoryFile(node, path, self)
    }

    func openSource(_ path: String) throws(DiskFailure) -> any DiskFile {
        try open(path, creating: false)
    }

    func size(of path: String) throws(DiskFailure) -> Int64? {
        if let claimed = state.withLock({ $0.claims[path] }) { return claimed }
        return state.withLock { $0.files[path] }.map {
            Int64($0.content.withLock { $0.bytes.count })
        }
    }

    func isLinked(_ path: String) -> Bool {
        state.withLock { state in
            state.files[path].map { node in state.files.values.count { $0 === node } > 1 } ?? false
        }
    }

    func names(in folder: String) throws(DiskFailure) -> [String] {
        state.withLock { state in
            let names = (Array(state.files.keys) + state.folders).filter {
                $0.hasPrefix(folder + "/")
            }.map { String($0.dropFirst(folder.count + 1).prefix { $0 != "/" }) }
            return Set(names).sorted()
        }
    }

    func makeFolder(_ path: String) throws(DiskFailure) {
        try change("folder")
        _ = state.withLock { $0.folders.insert(path) }
    }

    func rename(_ path: String, to target: String, replacing: Bool) throws(DiskFailure) {
        guard let node = state.withLock({ $0.files[path] }) else {
            throw DiskFailure(.missing, "there is no \(path)")
        }
        guard replacing || state.withLock({ $0.files[target] }) == nil else {
            throw DiskFailure(.exists, "there is a \(target)")
        }
        if !replacing {
            // As a link and its removal do it.
            try change("link")
            state.withLock { $0.files[target] = node }
        }
        try change("rename")
        state.withLock { state in
            state.files[path] = nil
            state.files[target] = (replacing ? state.intruder : nil) ?? node
        }
    }

    func checkReplacing(_ path: String) {}

    func syncFolder(_ path: String) throws(DiskFailure) {
        try change("sync folder")
        state.withLock { state in
            let isInside: (String) -> Bool = { file in
                file.hasPrefix(path == "/" ? "/" : path + "/")
                    && !file.dropFirst(path.count + 1).contains("/")
            }
            for file in state.durable.keys where isInside(file) { state.durable[file] = nil }
            for (file, node) in state.files where isInside(file) { state.durable[file] = node }
        }
    }

    func remove(_ path: String) throws(DiskFailure) {
        try change("remove")
        state.withLock { state in
            state.files[path] = nil
            state.folders.remove(path)
        }
    }

    func freeSpace(at folder: String) throws(DiskFailure) -> Int64 { state.withLock { $0.space } }

    fileprivate static func name(_ path: String) -> String {
        path.contains("/journal") ? "journal" : path.hasSuffix("lock") ? "lock" : "data"
    }
}

private final class MemoryFile: DiskFile {
    private let node: MemoryDisk.Node
    private let path: String
    private let disk: MemoryDisk

    init(_ node: MemoryDisk.Node, _ path: String, _ disk: MemoryDisk) {
        self.node = node
        self.path = path
        self.disk = disk
    }

    private var name: String { MemoryDisk.name(path) }

    func read(at offset: Int64, count: Int) throws(DiskFailure) -> [UInt8] {
        node.content.withLock { content in
            let start = min(Int(offset), content.bytes.count)
            return Array(content.bytes[start..<min(start + count, content.bytes.count)])
        }
    }

    func write(_ bytes: Span<UInt8>, at offset: Int64) throws(DiskFailure) {
        guard !bytes.isEmpty else { return }
        let copy = unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) }
        let end = Int(offset) + copy.count
        let size = node.content.withLock { $0.bytes.count }
        try disk.grow(Int64(max(0, end - size)))
        try disk.change("write \(name)")
        disk.noteWrite(copy.count)
        node.content.withLock { content in
            content.version += 1
            if content.bytes.count < end {
                content.bytes += [UInt8](repeating: 0, count: end - content.bytes.count)
            }
            content.bytes.replaceSubrange(Int(offset)..<end, with: copy)
        }
    }

    func sync() throws(DiskFailure) {
        try disk.change("sync \(name)")
        node.content.withLock { $0.durable = $0.bytes }
    }

    func truncate(to size: Int64) throws(DiskFailure) {
        guard node.content.withLock({ $0.bytes.count }) != Int(size) else { return }
        try disk.change("truncate \(name)")
        node.content.withLock { content in
            content.version += 1
            if content.bytes.count > Int(size) {
                content.bytes.removeLast(content.bytes.count - Int(size))
            }
        }
    }

    func size() throws(DiskFailure) -> Int64 { Int64(node.content.withLock { $0.bytes.count }) }

    func identity() throws(DiskFailure) -> FileIdentity {
        let (size, version, count) = node.content.withLock {
            ($0.bytes.count, $0.version, $0.setBackCount)
        }
        return FileIdentity(
            device: 1, inode: node.inode, size: UInt64(size), modified: version,
            changed: version + count)
    }

    func isThere(_ path: String) throws(DiskFailure) -> Bool { disk.node(path) === node }

    func claim() throws(DiskFailure) -> Bool { true }
}
