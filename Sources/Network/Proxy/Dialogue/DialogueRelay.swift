internal import Base
internal import HTTPCodecs
internal import Negotiation
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

/// A dialogue that is no HTTP: relayed as it comes, recorded in segments, and watched for the switch
/// to TLS in mid-stream.
///
/// `@unchecked Sendable`: its children run on one loop's executor.
@safe
final class DialogueRelay: @unchecked Sendable {
    private let task: ConnectionTask
    private let worker: ProxyWorker
    private let loop: EventLoop
    private let client: any ByteStream
    private let origin: any ByteStream
    private let ends: RelayEnds
    private let takesHTTP: Bool
    private var machine: UpgradeMachine
    /// What each side sent and was not passed on yet.
    private var held: [Direction: ByteBuffer] = [:]
    private(set) var hasClientSpoken = false
    /// What the origin said first, before the client did; a few dozen bytes at the most.
    private(set) var greeting: [UInt8] = []
    /// The command that both sides agreed to begin TLS with.
    private(set) var securedBy: String?
    /// Whether the client's first word is a request of HTTP.
    private var hasBegunHTTP = false
    private var clientWaiter: UnsafeContinuation<Void, Never>?

    /// How the dialogue went on.
    enum End {
        case closed(by: ConnectionRecord.Side)
        /// The client speaks HTTP to an origin that had greeted it in another protocol.
        case http(request: ByteBuffer)
        /// Both legs are to be secured; the client's bytes begin its handshake.
        case secure(command: String, readAhead: ByteBuffer?)
    }

    /// How long a client's bytes are held back at most, in milliseconds.
    private static let holdTime: UInt64 = 10_000
    /// In bytes: the first line of most protocols.
    private static let greetingLimit = 64
    /// How long bytes that look like the start of a ClientHello wait for the rest.
    private static let helloTime: UInt64 = 1_000

    /// - Parameters:
    ///   - early: what the client sent before; owned by the relay now.
    ///   - late: what the origin sent before; the same.
    ///   - takesHTTP: whether it ends for a client that speaks HTTP.
    init(
        _ task: ConnectionTask, client: any ByteStream, origin: any ByteStream,
        machine: UpgradeMachine, early: ByteBuffer?, late: ByteBuffer?, takesHTTP: Bool = false
    ) {
        self.task = task
        self.takesHTTP = takesHTTP
        worker = task.worker
        loop = task.worker.loop
        self.client = client
        self.origin = origin
        self.machine = machine
        ends = RelayEnds(client: client, origin: origin, worker: task.worker)
        held[.request] = early
        held[.response] = late
    }

    var protocolName: String? { machine.protocolName }

    /// Why it ended, if it did not end in order.
    var failure: StreamFailure? { ends.failure }

    /// Whether bytes pass, or have in the last so many milliseconds, or an answer may be owed.
    func isInUse(within time: UInt64) -> Bool { ends.isHalfEnded || ends.isInUse(within: time) }

    func run() async -> End {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.pump(.request) }
            group.addTask { await self.pump(.response) }
            await group.waitForAll()
        }
        ends.release()
        if hasBegunHTTP, let request = held.removeValue(forKey: .request) {
            client.channel.resumeWaiting()
            origin.channel.resumeWaiting()
            for buffer in held.values { loop.buffers.give(buffer) }
            return .http(request: request)
        }
        if let name = machine.protocolName { task.record.protocolName = name }
        guard let securedBy else {
            for buffer in held.values { loop.buffers.give(buffer) }
            return .closed(by: ends.first ?? .tool)
        }
        client.channel.resumeWaiting()
        origin.channel.resumeWaiting()
        if let late = held.removeValue(forKey: .response) { loop.buffers.give(late) }
        return .secure(command: securedBy, readAhead: held.removeValue(forKey: .request))
    }

    // MARK: One direction

    private func pump(_ direction: Direction) async {
        let source = direction == .request ? client : origin
        do throws(StreamFailure) {
            while !isLeft, try await fill(direction, from: source) {
                guard let bytes = held[direction] else { return }
                if direction == .request, beginsHTTP(bytes.readable) {
                    hasBegunHTTP = true
                    origin.channel.interrupt()
                    return
                }
                let step = look(direction, bytes)
                do throws(StreamFailure) {
                    try await pass(bytes, step.forward, direction)
                } catch {
                    if !isLeft { ends.noteRefusal(error, of: direction) }
                    return wakeClient()
                }
                if bytes.isEmpty {
                    held[direction] = nil
                    loop.buffers.give(bytes)
                }
                try await follow(step, direction)
            }
            if !isLeft, ends.isOpen {
                try ends.judgeEnd(of: direction)
                ends.noteEnd(of: direction)
                wakeClient()
                await ends.tellEnd(of: direction)
            }
        } catch {
            // Whoever goes on with both sides has made this one stop.
            if !isLeft { ends.fail(error, by: direction == .request ? .client : .origin) }
        }
        wakeClient()
    }

    /// Whether this relay has nothing more to pass on.
    private var isLeft: Bool { securedBy != nil || hasBegunHTTP }

    /// Whether a client that was greeted speaks HTTP all the same: it is no part of a dialogue then,
    /// and is recorded as it would be if its request had come before the greeting.
    private func beginsHTTP(_ bytes: Span<UInt8>) -> Bool {
        guard takesHTTP, !hasClientSpoken, !greeting.isEmpty, !greeting.starts(with: "HTTP/".utf8)
        else { return false }
        return RequestOpening.judge(bytes) == true
    }

    private func look(_ direction: Direction, _ bytes: ByteBuffer) -> UpgradeStep {
        ends.noteBytes()
        if direction == .request { hasClientSpoken = true }
        if !hasClientSpoken, greeting.isEmpty {
            greeting = bytes.copy(0..<min(bytes.count, Self.greetingLimit))
        }
        let step =
            direction == .request
            ? machine.client(bytes.readable) : machine.origin(bytes.readable)
        for fact in step.facts {
            if case .named(let name) = fact { task.record.protocolName = name }
            task.note(fact)
        }
        for injected in step.injected { task.note(injected) }
        return step
    }

    /// Sends the first `count` bytes on, and records them.
    private func pass(
        _ bytes: ByteBuffer, _ count: Int, _ direction: Direction
    ) async throws(StreamFailure) {
        guard count > 0 else { return }
        task.recordSegment(bytes.readable.extracting(..<count), direction)
        if count == bytes.count {
            try await ends.pass(bytes, direction)
        } else {
            let part = loop.buffers.take()
            defer { loop.buffers.give(part) }
            part.append(bytes.readable.extracting(..<count))
            bytes.consume(count)
            try await ends.pass(part, direction)
        }
        await worker.recorder.waitForRoom()
    }

    private func follow(_ step: UpgradeStep, _ direction: Direction) async throws(StreamFailure) {
        switch step.next {
        case .forward: if direction == .response { wakeClient() }
        case .needMore: try await awaitMore()
        case .hold: await awaitOrigin()
        case .forwardThenSecure(let command): secure(command, direction, step)
        }
    }

    private func secure(_ command: String, _ direction: Direction, _ step: UpgradeStep) {
        securedBy = command
        // Plain bytes behind the switch are nobody's: taken for the handshake they would break it,
        // taken for the dialogue inside they would be an attacker's words.
        if step.injected.contains(where: { $0.side == .client }), let early = held[.request] {
            early.removeAll()
        }
        (direction == .request ? origin : client).channel.interrupt()
        wakeClient()
    }

    /// Reads more of a side unless something of it waits; whether there is something.
    private func fill(
        _ direction: Direction, from source: any ByteStream
    ) async throws(StreamFailure) -> Bool {
        if held[direction] != nil { return true }
        while true {
            source.readDeadline = ends.idleEnd
            do throws(StreamFailure) {
                try await source.waitReadable()
                return try await read(direction, from: source)
            } catch {
                if isLeft { return false }
                if error != .timedOut || loop.now >= ends.idleEnd { throw error }
            }
        }
    }

    private func read(
        _ direction: Direction, from source: any ByteStream
    ) async throws(StreamFailure) -> Bool {
        let buffer = held[direction] ?? loop.buffers.take()
        do throws(StreamFailure) {
            guard try await source.read(into: buffer) > 0 else {
                if buffer.isEmpty { loop.buffers.give(buffer) }
                return false
            }
        } catch {
            if buffer.isEmpty { loop.buffers.give(buffer) }
            throw error
        }
        held[direction] = buffer
        return true
    }

    // MARK: Waiting

    /// Waits for the rest of what may begin a ClientHello.
    private func awaitMore() async throws(StreamFailure) {
        client.readDeadline = loop.now + Self.helloTime
        do throws(StreamFailure) {
            try await client.waitReadable()
            if try await read(.request, from: client) { return }
        } catch {
            guard error == .timedOut else { throw error }
        }
        machine.releaseHeld()
    }

    /// Waits until the origin has answered the client's request for TLS.
    private func awaitOrigin() async {
        let timer = loop.makeTimer { [unowned self] in
            machine.releaseHeld()
            wakeClient()
        }
        loop.set(timer, due: loop.now + Self.holdTime)
        while machine.isAwaitingOrigin, securedBy == nil, ends.first == nil {
            unsafe await withUnsafeContinuation { unsafe clientWaiter = $0 }
        }
        loop.set(timer, due: .max)
        // An origin that has ended answers no more.
        if securedBy == nil { machine.releaseHeld() }
    }

    private func wakeClient() {
        guard let waiting = unsafe clientWaiter else { return }
        unsafe clientWaiter = nil
        unsafe waiting.resume()
    }

    /// Ends it for a shutdown, whatever it waits for.
    func interrupt() {
        ends.interrupt()
        wakeClient()
    }
}
