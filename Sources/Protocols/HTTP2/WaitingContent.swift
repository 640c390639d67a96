internal import Base

/// Content of a stream that has come and was not read yet.
///
/// It stays in the pieces that it came in, so that nothing is copied but by who reads it; small ones
/// are put together, so that frames of a byte each cost no more than others.
struct WaitingContent {
    private var pieces: [[UInt8]] = []
    /// So much of the first piece was read, in bytes.
    private var start = 0
    /// In bytes.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        count += bytes.count
        guard bytes.count < Self.smallSize else { return pieces.append(bytes) }
        if let last = pieces.indices.last,
            pieces[last].capacity - pieces[last].count >= bytes.count
        {
            pieces[last] += bytes
        } else {
            var piece: [UInt8] = []
            piece.reserveCapacity(2 * Self.smallSize)
            piece += bytes
            pieces.append(piece)
        }
    }

    /// Moves as much into the buffer as it has room for.
    ///
    /// - Returns: how many bytes.
    mutating func read(into buffer: ByteBuffer) -> Int {
        let wanted = min(buffer.room, count)
        var moved = 0
        var used = 0
        while moved < wanted {
            let piece = pieces[used]
            let step = min(wanted - moved, piece.count - start)
            let bytes = piece.span
            buffer.append(bytes.extracting(start..<start + step))
            moved += step
            start += step
            guard start == piece.count else { break }
            start = 0
            used += 1
        }
        pieces.removeFirst(used)
        count -= moved
        return moved
    }

    /// Throws all away.
    ///
    /// - Returns: how many bytes it was.
    mutating func removeAll() -> Int {
        defer { self = WaitingContent() }
        return count
    }

    /// In bytes: what is shorter is put together.
    private static let smallSize = 512
}
