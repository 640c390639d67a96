internal import Base
internal import Synchronization
internal import TLS

/// A file of a storage class: a head with the file's key, sealed, and blocks, each sealed for its
/// place.
///
/// The last block is sealed anew whenever it has grown and is synced; a crash in that may take the
/// block, and never one before it.
final class SealedFile: DiskFile {
    private let file: any DiskFile
    private let key: [UInt8]
    private let state: Mutex<State>

    private struct State {
        /// In bytes of the content.
        var size: Int64
        /// A block as it is meant to be; it may be on the disk already.
        var index: Int64 = -1
        var block: [UInt8] = []
        var isChanged = false
    }

    /// Opens a file of a class, or makes it.
    ///
    /// Errors: `locked` if its key cannot be had now.
    static func open(
        _ path: String, _ storage: StorageClass, _ vault: StorageVault, on disk: any TransferDisk,
        creating: Bool
    ) throws(DiskFailure) -> SealedFile {
        let file = try disk.open(path, creating: creating)
        let size = try file.size()
        if size < headSize {
            guard creating else { throw DiskFailure(.unreadable, "cannot read \(path): too short") }
            let key = Digests.randomBytes(32)
            guard let sealed = vault.seal(key, for: storage), sealed.count <= 1024 else {
                throw locked(path)
            }
            try file.truncate(to: 0)
            try file.write(head(storage, sealed).span, at: 0)
            return SealedFile(file, key, size: 0)
        }
        let head = try file.read(at: 0, count: headSize)
        guard let (storage, sealed) = read(head) else {
            throw DiskFailure(.unreadable, "cannot read \(path): no sealed file")
        }
        guard let key = vault.open(sealed, of: storage) else { throw locked(path) }
        let rest = size - Int64(headSize)
        let last = rest % sealedBlock
        let content = rest / sealedBlock * blockSize + max(0, last - Int64(SealedBox.overhead))
        return SealedFile(file, key, size: content)
    }

    private init(_ file: any DiskFile, _ key: [UInt8], size: Int64) {
        self.file = file
        self.key = key
        state = Mutex(State(size: size))
    }

    private static func locked(_ path: String) -> DiskFailure {
        DiskFailure(.locked, "cannot open \(path) while the device is locked")
    }

    // MARK: The head

    private static let mark = [UInt8]("sallyport sealed 1\n".utf8)
    private static let headSize = 2048
    private static let classes: [StorageClass] = [
        .none, .untilFirstUnlock, .complete, .completeUnlessOpen,
    ]

    private static func head(_ storage: StorageClass, _ sealed: [UInt8]) -> [UInt8] {
        let number = UInt8(classes.firstIndex(of: storage) ?? 0)
        let count = sealed.count
        let head =
            mark + [
                number, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count),
            ]
            + sealed
        return head + [UInt8](repeating: 0, count: headSize - head.count)
    }

    private static func read(_ head: [UInt8]) -> (StorageClass, [UInt8])? {
        var cursor = ByteCursor(head[...])
        guard let start = cursor.bytes(mark.count), start.elementsEqual(mark),
            let number = cursor.number(1), classes.indices.contains(number),
            let sealed = cursor.vector(2)
        else { return nil }
        return (classes[number], [UInt8](sealed))
    }

    // MARK: Content

    func read(at offset: Int64, count: Int) throws(DiskFailure) -> [UInt8] {
        try state.withLock { state throws(DiskFailure) in
            var bytes: [UInt8] = []
            var place = offset
            let end = min(state.size, offset + Int64(count))
            while place < end {
                let block = try block(place / Self.blockSize, &state)
                let start = Int(place % Self.blockSize)
                let stop = min(block.count, start + Int(end - place))
                guard start < stop else { break }
                bytes += block[start..<stop]
                place += Int64(stop - start)
            }
            return bytes
        }
    }

    func write(_ bytes: Span<UInt8>, at offset: Int64) throws(DiskFailure) {
        let copy = unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) }
        try state.withLock { state throws(DiskFailure) in
            var written = 0
            while written < copy.count {
                let place = offset + Int64(written)
                try hold(place / Self.blockSize, &state)
                let start = Int(place % Self.blockSize)
                let count = min(copy.count - written, Int(Self.blockSize) - start)
                if state.block.count < start {
                    state.block += [UInt8](repeating: 0, count: start - state.block.count)
                }
                let end = min(state.block.count, start + count)
                state.block.replaceSubrange(start..<end, with: copy[written..<written + count])
                state.isChanged = true
                written += count
                state.size = max(state.size, place + Int64(count))
            }
        }
    }

    func sync() throws(DiskFailure) {
        try state.withLock { state throws(DiskFailure) in try flush(&state) }
        try file.sync()
    }

    func truncate(to size: Int64) throws(DiskFailure) {
        try state.withLock { state throws(DiskFailure) in
            guard size != state.size else { return }
            let (blocks, rest) = size.quotientAndRemainder(dividingBy: Self.blockSize)
            if rest > 0 {
                try hold(blocks, &state)
                state.block.removeLast(max(0, state.block.count - Int(rest)))
                state.isChanged = true
            } else if state.index >= blocks {
                (state.index, state.block, state.isChanged) = (-1, [], false)
            }
            state.size = size
            try file.truncate(to: Int64(Self.headSize) + blocks * Self.sealedBlock)
            try flush(&state)
        }
    }

    func size() throws(DiskFailure) -> Int64 { state.withLock { $0.size } }

    func identity() throws(DiskFailure) -> FileIdentity { try file.identity() }
    func isThere(_ path: String) throws(DiskFailure) -> Bool { try file.isThere(path) }

    func claim() throws(DiskFailure) -> Bool { try file.claim() }

    // MARK: Blocks

    private func block(_ index: Int64, _ state: inout State) throws(DiskFailure) -> [UInt8] {
        if index == state.index { return state.block }
        let sealed = try file.read(at: Self.place(index), count: Int(Self.sealedBlock))
        guard !sealed.isEmpty else { return [] }
        guard let block = SealedBox.open(sealed, under: key, at: Self.name(index)) else {
            throw DiskFailure(.unreadable, "a block of a sealed file is broken")
        }
        return block
    }

    /// Makes a block the one that is written to.
    private func hold(_ index: Int64, _ state: inout State) throws(DiskFailure) {
        guard index != state.index else { return }
        try flush(&state)
        state.block = try block(index, &state)
        state.index = index
    }

    private func flush(_ state: inout State) throws(DiskFailure) {
        guard state.isChanged else { return }
        let sealed = SealedBox.seal(state.block, under: key, at: Self.name(state.index))
        try file.write(sealed.span, at: Self.place(state.index))
        state.isChanged = false
    }

    private static func place(_ index: Int64) -> Int64 { Int64(headSize) + index * sealedBlock }

    private static func name(_ index: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: index >> ($0 * 8)) }
    }

    private static let blockSize: Int64 = 65_536
    private static let sealedBlock: Int64 = 65_536 + Int64(SealedBox.overhead)
}
