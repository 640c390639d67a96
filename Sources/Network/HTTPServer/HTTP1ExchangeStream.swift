internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Sockets
internal import Transport

/// One exchange on a connection of HTTP/1: the request's content as the route asks for it, and the
/// response.
final class HTTP1ExchangeStream: ExchangeStream {
    let version: HTTPVersion
    private unowned let task: HTTPServerTask
    private let framing: BodyFraming
    private var reader: BodyReader
    /// Whether the client waits for a 100 before it sends the content.
    private var mustContinue: Bool
    private var hasFailed = false
    private var hasBegun = false
    /// What goes out next, the head ahead of content; taken once there is something, so that whoever
    /// never sends its content holds no buffer of ours.
    private lazy var out = {
        hasOut = true
        return task.worker.content.take()
    }()
    private var hasOut = false
    /// The content of the next chunk; `nil` for a content that is not in chunks.
    private var chunk: ByteBuffer?
    private var endsChunks = false

    init(_ task: HTTPServerTask, _ head: RequestHead, _ framing: BodyFraming) throws(ServerEnd) {
        self.task = task
        self.framing = framing
        version = head.version
        reader = BodyReader(framing, trailerLimits: task.limits.head)
        // A client that sends the content at once did not wait (RFC 9110 §10.1.1).
        mustContinue =
            try head.expectsContinue && head.version != .http10 && framing != .none
            && task.held == nil
    }

    func release() {
        if hasOut { task.worker.content.give(out) }
        if let chunk { task.worker.content.give(chunk) }
    }

    /// The content as the route sees it.
    var body: RequestBody {
        switch framing {
        case .length(let length): RequestBody(length: length, source: self)
        case .chunked: RequestBody(length: nil, source: self)
        case .none, .untilClose, .tunnel: RequestBody(length: 0, source: self)
        }
    }

    var pause: ExchangePause { task.pause }

    var keepsAlive: Bool { task.keepsAlive && isSkippable }

    // MARK: The request's content

    /// Whether what the route left unread may be skipped, so that the connection can go on.
    private var isSkippable: Bool {
        if reader.isComplete { return true }
        guard !hasFailed, !mustContinue, case .length(let length) = framing else { return false }
        return length <= task.limits.skippedBody
    }

    var trailers: Fields { reader.trailers }

    func read(into buffer: ByteBuffer) async throws(Failure) -> Int {
        guard !hasFailed else { throw Self.failure("broken") }
        do throws(ServerEnd) {
            if mustContinue {
                mustContinue = false
                try await send(interim: 100, [])
            }
            while !reader.isComplete, buffer.room > 0 {
                if task.held == nil {
                    task.channel.readDeadline = task.loop.now + task.limits.bodyTimeout
                    guard try await task.receive() else { throw .ended }
                }
                let count = try take(into: buffer)
                if count > 0 { return count }
            }
            return 0
        } catch {
            hasFailed = true
            throw Self.failure("incomplete or malformed")
        }
    }

    /// Reads to the end of the content and drops it.
    func skipRest() async throws(ServerEnd) {
        guard !reader.isComplete else { return }
        let buffer = task.loop.buffers.take()
        defer { task.loop.buffers.give(buffer) }
        do throws(Failure) {
            while try await read(into: buffer) > 0 { buffer.removeAll() }
        } catch {
            throw .ended
        }
    }

    /// Moves content that is held, as far as there is room.
    private func take(into buffer: ByteBuffer) throws(ServerEnd) -> Int {
        guard let held = task.held else { return 0 }
        let count = min(held.count, buffer.room)
        let before = buffer.count
        do throws(HTTP1Violation) {
            let consumed = try reader.consume(held.readable.extracting(..<count)) { range in
                buffer.append(held.readable.extracting(range))
            }
            task.consume(consumed)
        } catch {
            throw .refused(error.status)
        }
        return buffer.count - before
    }

    private static func failure(_ what: String) -> Failure {
        Failure("request-body", party: .client, "request body: \(what)")
    }

    func wait(milliseconds: UInt64?) async -> Bool {
        // Whoever has ended its direction may still read; but it is not waited for without end.
        if milliseconds == nil, task.channel.peerEnded { return false }
        return await pause.wait(milliseconds: milliseconds)
    }

    func waitForWake(milliseconds: UInt64?) async -> Bool {
        if task.channel.peerEnded { return false }
        return await pause.waitForWake(milliseconds: milliseconds)
    }

    // MARK: The response

    func inform(_ status: Int, _ fields: [ResponseField]) async {
        // HTTP/1.0 knows no interim responses (RFC 9110 §15.2).
        guard version != .http10, !hasBegun, !hasFailed else { return }
        do throws(ServerEnd) {
            try await send(interim: status, fields)
        } catch {
            hasFailed = true
        }
    }

    private func send(interim status: Int, _ fields: [ResponseField]) async throws(ServerEnd) {
        try await append(ResponsePlan.interimHead(status, fields))
        try await write(out)
    }

    var content: ByteBuffer { chunk ?? out }

    func begin(_ plan: ResponsePlan, pace: Pace?) async throws(ServerEnd) {
        hasBegun = true
        if case .chunked = plan.framing {
            chunk = task.worker.content.take()
            endsChunks = !plan.omitsEnd
        }
        guard let pace else { return try await append(plan.head) }
        let head = plan.head
        var machine = PaceMachine(pace)
        var offset = 0
        while offset < head.count {
            if machine.allowance == 0 {
                let due = machine.nextSlice(now: task.loop.now)
                guard await pause.wait(until: due) else { throw .left }
            }
            let count = min(machine.allowance, head.count - offset, out.room)
            out.append(head.span.extracting(offset..<offset + count))
            machine.take(count)
            offset += count
            try await write(out)
        }
    }

    /// Sends what each read brought as one chunk, so that a slow source is seen as it goes.
    func flush() async throws(ServerEnd) {
        if let chunk, !chunk.isEmpty {
            try await append([UInt8]("\(String(chunk.count, radix: 16))\r\n".utf8))
            if chunk.count + 2 > out.room { try await write(out) }
            if chunk.count + 2 > out.room {
                // A full piece leaves no room for its line end.
                try await write(chunk)
            } else {
                out.append(chunk.readable)
                chunk.removeAll()
            }
            out.append("\r\n")
        }
        try await write(out)
    }

    func end(trailers: [ResponseField], goodbye: Delivery.GoAway?) async throws(ServerEnd) {
        if endsChunks { try await append(ResponsePlan.lastChunk(trailers: trailers)) }
        try await write(out)
    }

    private func append(_ bytes: [UInt8]) async throws(ServerEnd) {
        var offset = 0
        while true {
            offset += out.appendFitting(bytes, from: offset)
            if offset == bytes.count { return }
            try await write(out)
        }
    }

    private func write(_ buffer: ByteBuffer) async throws(ServerEnd) {
        guard !buffer.isEmpty else { return }
        task.stream.writeDeadline = task.loop.now + task.limits.writeTimeout
        do throws(StreamFailure) {
            try await task.stream.write(buffer)
        } catch {
            // A client that does not read is told by a reset: it cannot take a response for whole.
            throw .unwritable(isTimeout: error == .timedOut)
        }
    }

    /// A reset throws away what the client's system has not got.
    func settle() async throws(ServerEnd) {
        await pause.untilAcknowledged(task.channel)
    }

    func goAway(_ goodbye: Delivery.GoAway) {}

    func watch(_ sent: SentResponse, _ onEnd: @escaping (SentResponse) -> Void) {
        task.watch(sent, onEnd)
    }

    var unacknowledged: Int? { task.channel.unacknowledgedCount }
}

extension RequestHead {
    /// Whether the client waits for a 100 (RFC 9110 §10.1.1); other expectations are refused.
    var expectsContinue: Bool {
        get throws(ServerEnd) {
            guard let value = fields.first(.expect), version != .http10 else { return false }
            guard value.trimmingWhitespace.equalsIgnoringCase("100-continue") else {
                throw .refused(417)
            }
            return true
        }
    }
}
