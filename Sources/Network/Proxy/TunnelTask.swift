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
    private let ends: RelayEnds
    private let worker: ProxyWorker
    private let observe: (Direction, Span<UInt8>) -> Void
    /// What each side sent before the tunnel was there.
    private var held: [Direction: ByteBuffer] = [:]
    private var ender: LoopTimer?
    private var isOver = false

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
        ends = RelayEnds(client: client, origin: origin, worker: worker)
        held[.request] = early
        held[.response] = late
    }

    /// - Returns: the side that ended first.
    func run() async -> ConnectionRecord.Side {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.pump(.request, from: self.client) }
            group.addTask { await self.pump(.response, from: self.origin) }
            await group.waitForAll()
        }
        isOver = true
        ends.release()
        if let ender { worker.loop.set(ender, due: .max) }
        ender = nil
        return ends.first ?? .tool
    }

    /// Why it ended, if it did not end in order.
    var failure: StreamFailure? { ends.failure }

    /// Whether bytes pass, or have in the last so many milliseconds, or an answer may be owed.
    func isInUse(within time: UInt64) -> Bool { ends.isHalfEnded || ends.isInUse(within: time) }

    /// Ends it in order, for a shutdown, if neither side has ended and no bytes have passed in the last
    /// so many milliseconds.
    func endIfResting(for time: UInt64) {
        if ends.rests, !ends.isInUse(within: time) { ends.fail(.closed, by: .client) }
    }

    /// Waits for the client so many milliseconds more, when nobody reads what it still sends: or for
    /// longer, as it takes what was sent to it.
    func interruptClient(in grace: UInt64) {
        guard !isOver else { return }
        let timer = worker.loop.makeTimer { [unowned self] in
            if ends.isInUse(within: grace) {
                interruptClient(in: grace)
            } else {
                client.interrupt()
            }
        }
        ender = timer
        worker.loop.set(timer, due: worker.loop.now + grace)
    }

    private func pump(_ direction: Direction, from source: any TunnelStream) async {
        var next = held.removeValue(forKey: direction)
        do throws(StreamFailure) {
            if next == nil { next = try await read(from: source) }
            while let bytes = next {
                ends.noteBytes()
                observe(direction, bytes.readable)
                do throws(StreamFailure) {
                    try await ends.pass(bytes, direction)
                } catch {
                    return ends.noteRefusal(error, of: direction)
                }
                worker.loop.buffers.give(bytes)
                await worker.recorder.waitForRoom()
                next = try await read(from: source)
            }
            try ends.judgeEnd(of: direction)
            ends.noteEnd(of: direction)
            await ends.tellEnd(of: direction)
        } catch {
            ends.fail(error, by: direction == .request ? .client : .origin)
        }
    }

    /// The next bytes, `nil` at the end. A side may be silent for as long as the other talks.
    private func read(from source: any TunnelStream) async throws(StreamFailure) -> ByteBuffer? {
        while true {
            source.readDeadline = ends.idleEnd
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
                if error != .timedOut || worker.loop.now >= ends.idleEnd { throw error }
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
