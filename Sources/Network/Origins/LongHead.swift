package import Base
package import HTTPCodecs

/// A head that does not fit into the buffer that it is read into, as far as it has come.
///
/// Most are small, and are read where they are; the buffers are not made larger for the few.
package final class LongHead {
    package private(set) var bytes: [UInt8] = []
    private let limit: Int
    private let ledger: LongHeadLedger
    private let number: UInt64
    private var isGivenUp = false
    /// From how many bytes on another look is worth its time: each is at all of them.
    private var nextLook = 0

    /// Of one that was given up: what its record shows, in bytes.
    private static let evidenceLimit = 4096

    package init(limit: Int, in ledger: LongHeadLedger) {
        self.limit = limit
        self.ledger = ledger
        number = ledger.nextNumber()
        ledger.add(self, number)
    }

    deinit { ledger.remove(number, byteCount: isGivenUp ? 0 : bytes.count) }

    /// Adds what the buffer holds.
    ///
    /// - Returns: whether it may be a whole head now, or one that is not allowed.
    package func take(_ buffer: ByteBuffer) throws(HTTP1Violation) -> Bool {
        let seen = max(0, bytes.count - 3)
        if !isGivenUp {
            bytes += buffer.copy
            ledger.grow(by: buffer.count)
        }
        if isGivenUp { throw .headTooLarge }
        guard bytes.count >= min(limit, nextLook) || holdsEmptyLine(from: seen) else {
            return false
        }
        nextLook = bytes.count * 2
        return true
    }

    /// Makes room for others; whoever sends it is told with its next bytes.
    ///
    /// - Returns: how many bytes count no longer.
    fileprivate func giveUp() -> Int {
        defer { bytes = Array(bytes.prefix(Self.evidenceLimit)) }
        isGivenUp = true
        return bytes.count
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

/// The unfinished long heads of a loop, which are bounded together.
///
/// Where there is no room, the oldest goes: a head that is meant comes whole within moments, and
/// those who never end theirs must not keep everybody else from sending one.
package final class LongHeadLedger {
    private struct Entry {
        let number: UInt64
        // A head is here for as long as it lives.
        unowned let head: LongHead
    }

    private let byteLimit: Int
    package private(set) var byteCount = 0
    /// The oldest first.
    private var entries: [Entry] = []
    private var lastNumber: UInt64 = 0

    /// - Parameter byteLimit: of all heads together; 64 MiB hold hundreds of heads.
    package init(byteLimit: Int = 64 << 20) {
        self.byteLimit = byteLimit
    }

    fileprivate func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    fileprivate func add(_ head: LongHead, _ number: UInt64) {
        entries.append(Entry(number: number, head: head))
    }

    fileprivate func grow(by count: Int) {
        byteCount += count
        while byteCount > byteLimit, !entries.isEmpty {
            byteCount -= entries.removeFirst().head.giveUp()
        }
    }

    fileprivate func remove(_ number: UInt64, byteCount: Int) {
        entries.removeAll { $0.number == number }
        self.byteCount -= byteCount
    }
}
