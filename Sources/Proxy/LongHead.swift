internal import Base
internal import HTTPCodecs
internal import Sockets

/// A head that does not fit into the buffer that it is read into, as far as it has come.
///
/// Most are small, and are read where they are; the buffers are not made larger for the few.
final class LongHead {
    private(set) var bytes: [UInt8] = []
    private let limit: Int
    private let loop: EventLoop
    /// From how many bytes on another look is worth its time: each is at all of them.
    private var nextLook = 0

    /// Of all such heads of a loop, in bytes.
    private static let loopLimit = 64 << 20

    init(limit: Int, loop: EventLoop) {
        self.limit = limit
        self.loop = loop
    }

    deinit { loop.longHeadBytes -= bytes.count }

    /// Adds what the buffer holds.
    ///
    /// - Returns: whether it may be a whole head now, or one that is not allowed.
    func take(_ buffer: ByteBuffer) throws(HTTP1Violation) -> Bool {
        guard loop.longHeadBytes + buffer.count <= Self.loopLimit else { throw .headTooLarge }
        let seen = max(0, bytes.count - 3)
        bytes += buffer.copy
        loop.longHeadBytes += buffer.count
        guard bytes.count >= min(limit, nextLook) || holdsEmptyLine(from: seen) else {
            return false
        }
        nextLook = bytes.count * 2
        return true
    }

    private func holdsEmptyLine(from start: Int) -> Bool {
        var position = start
        while let feed = bytes[position...].firstIndex(of: 0x0A) {
            let rest = bytes[(feed + 1)...]
            if rest.first == 0x0A || rest.starts(with: [0x0D, 0x0A]) { return true }
            position = feed + 1
        }
        return false
    }
}
