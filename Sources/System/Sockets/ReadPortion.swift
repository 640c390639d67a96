internal import Base

/// How much a channel receives at once: what its reader understands in moments.
///
/// A buffer of small frames or messages takes its reader a hundred times longer than one of a
/// large transfer, and nobody else has their turn meanwhile. What the last bytes took tells.
struct ReadPortion {
    private var size = Self.first
    private var count = 0
    private var receivedAt: UInt64 = 0
    private var round: UInt64 = .max

    /// In bytes: two whole records of TLS (RFC 8446 §5.2), and most messages of HTTP. A request that
    /// is there whole goes out before its answer comes, and its connection lives on.
    static let first = 40 << 10
    /// In bytes: the head of a request, as most are.
    static let least = 1024
    /// In bytes: more than any buffer.
    private static let most = 1 << 20
    /// In nanoseconds of understanding one portion.
    private static let timeAim: UInt64 = 500_000
    /// In nanoseconds: a round that has lasted so long waits for nobody's large portion.
    private static let oldRound: UInt64 = 50_000_000
    /// In bytes.
    private static let inOldRound = 8192

    /// How much of `room` to fill.
    @inline(__always)
    mutating func take(of room: Int, on loop: EventLoop) -> Int {
        let age = settle(on: loop)
        return min(room, size, age >= Self.oldRound ? Self.inOldRound : .max)
    }

    /// Notes what came.
    @inline(__always)
    mutating func note(_ count: Int, on loop: EventLoop) {
        self.count = count
        round = loop.round
        receivedAt = loop.roundAge
    }

    /// Judges by what the last bytes took, once their reader comes back for more.
    ///
    /// - Returns: how long the round has lasted.
    @inline(__always) @discardableResult
    mutating func settle(on loop: EventLoop) -> UInt64 {
        let age = loop.roundAge
        guard count > 0 else { return age }
        defer { count = 0 }
        if round == loop.round {
            let cost = age - receivedAt
            if cost > Self.timeAim * 4 {
                size = max(Self.least, Int(UInt64(count) * Self.timeAim / cost))
            } else if cost < Self.timeAim, count >= size {
                size = min(Self.most, size * 2)
            }
        } else if loop.lastLongRound < round, count >= size {
            // Others ran in between: only a round that was short tells something.
            size = min(Self.most, size * 2)
        }
        return age
    }
}
