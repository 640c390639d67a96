internal import Base
internal import Origins
internal import Sockets
internal import Traffic
internal import Transport

/// The two sides of a relay of bytes, and how each is told of the other's end: as it came, and once
/// all has passed that came before it.
///
/// `@unchecked Sendable`: a relay's children run on one loop's executor.
final class RelayEnds: @unchecked Sendable {
    private let client: any TunnelStream
    private let origin: any TunnelStream
    private let worker: ProxyWorker
    /// The directions all of which has passed.
    private var passed: Set<Direction> = []
    /// Who ended first.
    private(set) var first: ConnectionRecord.Side?
    /// Why it ended, if it did not end in order.
    private(set) var failure: StreamFailure?
    /// Whether it was given up, with what was still to pass.
    private var hasFailed = false
    /// Until when what a side said last is read that takes nothing more, in milliseconds of the
    /// loop's clock.
    private var lastWordsEnd: UInt64?
    /// When bytes passed last, in either direction, in milliseconds of the loop's clock.
    private var passedTick: UInt64
    /// How many pieces wait for a side to take them.
    private var waitingCount = 0

    /// In milliseconds.
    private static let lastWordsTime: UInt64 = 2_000

    init(client: any TunnelStream, origin: any TunnelStream, worker: ProxyWorker) {
        self.client = client
        self.origin = origin
        self.worker = worker
        passedTick = worker.loop.now
    }

    // MARK: Bytes

    /// Bytes came from a side.
    func noteBytes() { passedTick = worker.loop.now }

    /// Whether bytes pass, or have in the last so many milliseconds.
    func isInUse(within time: UInt64) -> Bool {
        waitingCount > 0 || worker.loop.now < passedTick + time
    }

    /// Whether nothing waits to be taken, and neither side has ended: who has said all waits for the rest
    /// of the other.
    var rests: Bool { waitingCount == 0 && passed.isEmpty }

    /// Whether the client has said all and the origin has not: an answer may be owed.
    var isHalfEnded: Bool { passed == [.request] }

    /// Until when a side may be silent, unless bytes pass before that: for as long as the other talks.
    var idleEnd: UInt64 {
        min(passedTick + worker.limits.responseTimeout, lastWordsEnd ?? .max)
    }

    /// Sends bytes on to the other side, which may be slow to take them.
    func pass(_ bytes: ByteBuffer, _ direction: Direction) async throws(StreamFailure) {
        let target = direction == .request ? origin : client
        target.writeDeadline = worker.loop.now + worker.limits.bodyTimeout
        waitingCount += 1
        defer { (waitingCount, passedTick) = (waitingCount - 1, worker.loop.now) }
        try await target.write(bytes)
    }

    // MARK: Ends

    /// Whether the end that a direction has come to is one: not behind a reset that a write was told
    /// of.
    ///
    /// - Throws: `reset`.
    func judgeEnd(of direction: Direction) throws(StreamFailure) {
        let source = direction == .request ? client : origin
        if let plain = source as? PlainStream, plain.channel.wasReset { throw .reset }
    }

    /// All of a direction has passed.
    func noteEnd(of direction: Direction) {
        first = first ?? (direction == .request ? .client : .origin)
        passed.insert(direction)
    }

    /// Tells the other side that all of a direction has passed.
    func tellEnd(of direction: Direction) async {
        let (source, target) = direction == .request ? (client, origin) : (origin, client)
        await target.end(as: source)
        // A client that has said all may leave without listening.
        if direction == .request {
            client.onLoss { [unowned self] in fail(.reset, by: .client) }
        }
    }

    /// The side that `direction` goes to takes nothing more. What it has said still passes, as from
    /// one that answers and closes while it is sent to: its own direction goes on to its end, which
    /// is there.
    func noteRefusal(_ error: StreamFailure, of direction: Direction) {
        let side: ConnectionRecord.Side = direction == .request ? .origin : .client
        if Self.isOwn(error) { return giveUp(error, cutting: [.client, .origin]) }
        guard !hasSaidAll(side) else { return fail(error, by: side) }
        noteFirst(side, error)
        let end = worker.loop.now + Self.lastWordsTime
        lastWordsEnd = end
        ((side == .client ? client : origin) as? any ByteStream)?.channel.hurryReading(until: end)
    }

    /// Ends the relay for a side that can no longer be read from.
    func fail(_ error: StreamFailure, by side: ConnectionRecord.Side) {
        guard Self.isOwn(error) else { return giveUp(error, cutting: [side], by: side) }
        // What rests is not cut, and an end in order loses no byte that was sent.
        giveUp(error, cutting: rests ? [] : [.client, .origin])
    }

    /// - Parameter cut: those whose words did not all pass. Unless one of them had said all, what the
    ///   other side has of it must not pass for all.
    private func giveUp(
        _ error: StreamFailure, cutting cut: [ConnectionRecord.Side],
        by side: ConnectionRecord.Side = .tool
    ) {
        guard !hasFailed else { return }
        hasFailed = true
        noteFirst(side, error)
        for side in cut where !hasSaidAll(side) { (side == .client ? origin : client).breakOff() }
        client.interrupt()
        origin.interrupt()
    }

    /// Whether a side's words may still end in order.
    var isOpen: Bool { failure == nil || lastWordsEnd != nil }

    /// Ends it for a shutdown, whatever it waits for.
    func interrupt() {
        first = first ?? .tool
        client.interrupt()
        origin.interrupt()
    }

    /// The relay is over; its client may be read by somebody else.
    func release() { client.onLoss(nil) }

    private func hasSaidAll(_ side: ConnectionRecord.Side) -> Bool {
        passed.contains(side == .client ? .request : .response)
    }

    private func noteFirst(_ side: ConnectionRecord.Side, _ error: StreamFailure) {
        guard first == nil else { return }
        (first, failure) = (side, error)
    }

    /// Whether the tool ended it, and neither side.
    private static func isOwn(_ error: StreamFailure) -> Bool {
        error == .timedOut || error == .closed
    }
}
