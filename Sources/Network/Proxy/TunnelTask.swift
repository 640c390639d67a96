internal import Base
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

/// Bytes relayed both ways until both sides have ended.
///
/// `@unchecked Sendable`: its children run on one loop's executor.
final class TunnelTask: @unchecked Sendable {
    private let client: any TunnelStream
    private let origin: any TunnelStream
    private let worker: ProxyWorker
    private let observe: (Direction, Span<UInt8>) -> Void
    /// What each side sent before the tunnel was there.
    private var held: [Direction: ByteBuffer] = [:]
    /// The directions all of which has passed.
    private var ended: Set<Direction> = []
    private var endedFirst: ConnectionRecord.Side?
    /// Until when what a side said last is read that takes nothing more, in milliseconds of the
    /// loop's clock.
    private var lastWordsEnd: UInt64?
    private var ender: LoopTimer?
    private var isOver = false
    /// When bytes passed last, in either direction, in milliseconds of the loop's clock.
    private var passedTick: UInt64
    /// How many pieces wait for a side to take them.
    private var waitingCount = 0

    /// - Parameters:
    ///   - early: what the client sent before; the tunnel owns it now.
    ///   - late: what the origin sent before; the same.
    ///   - observe: sees all bytes as they pass.
    init(
        client: any TunnelStream, origin: any TunnelStream, worker: ProxyWorker, early: ByteBuffer?,
        late: ByteBuffer?, observe: @escaping (Direction, Span<UInt8>) -> Void
    ) {
        self.client = client
        self.origin = origin
        self.worker = worker
        self.observe = observe
        passedTick = worker.loop.now
        held[.request] = early
        held[.response] = late
    }

    /// - Returns: the side that ended first.
    func run() async -> ConnectionRecord.Side {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.pump(.request, from: self.client, to: self.origin) }
            group.addTask { await self.pump(.response, from: self.origin, to: self.client) }
            await group.waitForAll()
        }
        isOver = true
        (client as? any ByteStream)?.channel.onLoss(nil)
        if let ender { worker.loop.set(ender, due: .max) }
        ender = nil
        return endedFirst ?? .tool
    }

    /// Whether bytes pass, or have in the last so many milliseconds.
    func isInUse(within time: UInt64) -> Bool {
        waitingCount > 0 || worker.loop.now < passedTick + time
    }

    /// Waits for the client so many milliseconds more, when nobody reads what it still sends.
    func interruptClient(in grace: UInt64) {
        guard !isOver else { return }
        let timer = worker.loop.makeTimer { [unowned self] in client.interrupt() }
        ender = timer
        worker.loop.set(timer, due: worker.loop.now + grace)
    }

    private func pump(
        _ direction: Direction, from source: any TunnelStream, to target: any TunnelStream
    ) async {
        let side: ConnectionRecord.Side = direction == .request ? .client : .origin
        var next = held.removeValue(forKey: direction)
        do throws(StreamFailure) {
            if next == nil { next = try await read(from: source) }
            while let bytes = next {
                passedTick = worker.loop.now
                observe(direction, bytes.readable)
                do throws(StreamFailure) {
                    try await pass(bytes, to: target)
                } catch {
                    return hearLastWords(error, of: side == .client ? .origin : .client)
                }
                worker.loop.buffers.give(bytes)
                await worker.recorder.waitForRoom()
                next = try await read(from: source)
            }
            endedFirst = endedFirst ?? side
            ended.insert(direction)
            await target.end(as: source)
            if direction == .request { listenForLoss() }
        } catch {
            fail(error, by: side)
        }
    }

    /// Passes on what a side has said that takes nothing more, as one that answers and closes while it is
    /// still sent to: its own direction goes on to its end, which is there.
    private func hearLastWords(_ error: StreamFailure, of side: ConnectionRecord.Side) {
        let isOwn = error == .timedOut || error == .closed
        let direction: Direction = side == .client ? .request : .response
        guard !isOwn, !ended.contains(direction) else { return fail(error, by: side) }
        endedFirst = endedFirst ?? side
        let end = worker.loop.now + Self.lastWordsTime
        lastWordsEnd = end
        ((side == .client ? client : origin) as? any ByteStream)?.channel.hurryReading(until: end)
    }

    /// In milliseconds.
    static let lastWordsTime: UInt64 = 2_000

    /// Ends the whole tunnel for a side that broke off. Unless that had said all, what the other has of
    /// it must not pass for all.
    private func fail(_ error: StreamFailure, by side: ConnectionRecord.Side) {
        let isOwn = error == .timedOut || error == .closed
        endedFirst = endedFirst ?? (isOwn ? .tool : side)
        if !isOwn, !ended.contains(side == .client ? .request : .response) {
            (side == .client ? origin : client).breakOff()
        }
        client.interrupt()
        origin.interrupt()
    }

    private func pass(
        _ bytes: ByteBuffer, to target: any TunnelStream
    ) async throws(StreamFailure) {
        target.writeDeadline = worker.loop.now + worker.limits.bodyTimeout
        waitingCount += 1
        defer { (waitingCount, passedTick) = (waitingCount - 1, worker.loop.now) }
        try await target.write(bytes)
    }

    /// Ends the tunnel once a client that has said all is not there to listen either.
    private func listenForLoss() {
        guard let client = client as? any ByteStream else { return }
        client.channel.onLoss { [unowned self] in
            client.interrupt()
            origin.interrupt()
        }
    }

    /// Until when a side may be silent, unless bytes pass before that.
    private var idleEnd: UInt64 {
        min(passedTick + worker.limits.responseTimeout, lastWordsEnd ?? .max)
    }

    /// The next bytes, `nil` at the end. A side may be silent for as long as the other talks.
    private func read(from source: any TunnelStream) async throws(StreamFailure) -> ByteBuffer? {
        while true {
            source.readDeadline = idleEnd
            var buffer: ByteBuffer?
            do throws(StreamFailure) {
                try await source.waitReadable()
                let bytes = worker.loop.buffers.take()
                buffer = bytes
                if try await source.read(into: bytes) > 0 { return bytes }
                worker.loop.buffers.give(bytes)
                return nil
            } catch {
                if let buffer { worker.loop.buffers.give(buffer) }
                if error != .timedOut || worker.loop.now >= idleEnd { throw error }
            }
        }
    }
}

extension ConnectionTask {
    /// Makes a connection that was opened in advance the one for plain exchanges.
    func adopt(
        _ dialled: DialledOrigin, for target: OriginTarget, offer: OriginOffer = .plain
    ) {
        let leg = OriginLeg(
            target: target, serverName: nil, stream: PlainStream(dialled.channel), offer: offer,
            address: dialled.address, tls: nil)
        leg.isOwned = true
        if offer == .plainHTTP2 { policy.origins.speakHTTP2(on: leg) }
        note(target)
        note(leg)
    }
}
