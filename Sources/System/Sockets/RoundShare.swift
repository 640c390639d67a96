/// What one direction of a channel has moved in this round of its loop.
///
/// A loop serves many connections, and each task runs until it has to wait; one whose peer is always
/// ready would never. So much is moved in a round, then the others have their turn.
struct RoundShare {
    private var round: UInt64 = .max
    private var callCount = 0
    private var byteCount = 0

    /// In bytes: a few full buffers, so that asking the sockets costs a large transfer little.
    static let byteLimit = 256 << 10
    /// In nanoseconds of the round's age, for bytes that are dear to understand.
    static let timeLimit: UInt64 = 1_000_000
    /// Every channel may do so much, however old the round is: a head and its content.
    static let callMinimum = 2

    @inline(__always)
    func isUsedUp(on loop: EventLoop) -> Bool {
        guard round == loop.round, callCount >= Self.callMinimum else { return false }
        return byteCount >= Self.byteLimit || loop.roundAge >= Self.timeLimit
    }

    @inline(__always)
    mutating func take(_ count: Int, on loop: EventLoop) {
        if round != loop.round {
            round = loop.round
            callCount = 0
            byteCount = 0
        }
        callCount += 1
        byteCount += count
    }
}
