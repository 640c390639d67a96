internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Sockets
internal import Transport

/// A request's content, read from its connection while the route asks for it.
final class ConnectionBodySource: RequestBodySource {
    private unowned let task: HTTPServerTask
    private let framing: BodyFraming
    private var reader: BodyReader
    /// Whether the client waits for a 100 before it sends the content.
    private var mustContinue: Bool
    private var hasFailed = false

    init(_ task: HTTPServerTask, _ framing: BodyFraming, expectsContinue: Bool) {
        self.task = task
        self.framing = framing
        reader = BodyReader(framing, trailerLimits: task.limits.head)
        // A client that sends the content at once did not wait (RFC 9110 §10.1.1).
        mustContinue = expectsContinue && framing != .none && task.held == nil
    }

    /// The content as the route sees it.
    var body: RequestBody {
        switch framing {
        case .length(let length): RequestBody(length: length, source: self)
        case .chunked: RequestBody(length: nil, source: self)
        case .none, .untilClose, .tunnel: RequestBody([])
        }
    }

    /// Whether what the route left unread may be skipped, so that the connection can go on.
    var isSkippable: Bool {
        if reader.isComplete { return true }
        guard !hasFailed, !mustContinue, case .length(let length) = framing else { return false }
        return length <= task.limits.skippedBody
    }

    func read(into buffer: ByteBuffer) async throws(Failure) -> Int {
        guard !hasFailed else { throw Self.failure("broken") }
        do throws(ServerEnd) {
            try await sendContinue()
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

    private func sendContinue() async throws(ServerEnd) {
        guard mustContinue else { return }
        mustContinue = false
        let buffer = task.worker.content.take()
        defer { task.worker.content.give(buffer) }
        buffer.append("HTTP/1.1 100 Continue\r\n\r\n")
        try await task.flush(buffer)
    }

    private static func failure(_ what: String) -> Failure {
        Failure("request-body", party: .client, "request body: \(what)")
    }
}
