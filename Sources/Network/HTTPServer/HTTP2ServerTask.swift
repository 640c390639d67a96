internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Sockets
internal import Transport

/// The exchanges of one client's connection of HTTP/2, each on its stream, all at once.
///
/// `@unchecked Sendable`: its tasks run on one loop's executor.
@safe
final class HTTP2ServerTask: @unchecked Sendable {
    let worker: ServerWorker
    let connection: HTTP2Connection
    private let client: ClientConnection
    private var open: [Int32: HTTP2ExchangeStream] = [:]
    private var sweeper: LoopTimer?

    init(_ stream: any ByteStream, client: ClientConnection, worker: ServerWorker) {
        self.worker = worker
        self.client = client
        connection = HTTP2Connection(
            stream, role: .server, limits: worker.limits.http2,
            times: HTTP2Times(
                write: worker.limits.writeTimeout, idle: worker.limits.idleTimeout))
    }

    /// Takes what was read of the client before; ahead of `run`.
    func receive(_ held: ByteBuffer) { connection.receive(held) }

    /// Serves streams until the client or the protocol ends the connection.
    func run() async {
        let sweeper = worker.loop.makeTimer { [unowned self] in sweep() }
        self.sweeper = sweeper
        sweep()
        if worker.isDraining { connection.drain() }
        await connection.run { stream in await self.serve(stream) }
        worker.loop.set(sweeper, due: .max)
    }

    private func sweep() {
        connection.sweep()
        guard let sweeper else { return }
        let limits = worker.limits
        let shortest = min(limits.writeTimeout, limits.bodyTimeout, limits.idleTimeout)
        worker.loop.set(sweeper, due: worker.loop.now + max(8, min(1_000, shortest / 4)))
    }

    private func serve(_ stream: HTTP2Stream) async {
        // What RFC 9113 §8 does not allow was answered by the connection.
        guard let head = stream.head else { return }
        guard stream.brokenHead == nil else { return report(400, head) }
        do throws(ServerEnd) {
            let request: RequestHead
            do throws(HTTP1Violation) {
                request = try head.requestHead()
            } catch {
                throw .refused(error.status)
            }
            let exchange = try HTTP2ExchangeStream(stream, request, of: self)
            open[stream.id] = exchange
            defer {
                open[stream.id] = nil
                stream.onBreak = nil
                exchange.release()
            }
            stream.onBreak = { [unowned exchange] in exchange.pause.leave() }
            let end = await ClientPresence.$current.withValue(exchange.pause.presence) {
                await serve(request, over: exchange)
            }
            if let end { throw end }
        } catch {
            if case .refused(let status) = error { report(status, head) }
            await end(stream, error)
        }
    }

    private func report(_ status: Int, _ head: HTTP2Head) {
        guard let onRefusal = worker.onRefusal else { return }
        let bytes: [UInt8]
        do throws(HTTP1Violation) {
            bytes = try head.requestHead().fields.raw
        } catch {
            bytes = head.method + [0x20] + head.path
        }
        onRefusal(
            RefusedRequest(status: status, head: bytes, version: .http2, connection: client))
    }

    /// - Returns: why the stream ends otherwise than behind its response.
    private func serve(
        _ request: RequestHead, over exchange: HTTP2ExchangeStream
    ) async -> ServerEnd? {
        do throws(ServerEnd) {
            _ = try await worker.serve(request, of: client, over: exchange)
            return nil
        } catch {
            return error
        }
    }

    private func end(_ stream: HTTP2Stream, _ reason: ServerEnd) async {
        switch reason {
        case .refused(let status):
            let text = ServerResponse.plain(status)
            stream.respond(
                .own(status: status) { add in
                    add("content-type", text.first("Content-Type") ?? "text/plain")
                    add("content-length", String(text.body.length ?? 0))
                }, endsStream: false)
            if case .bytes(let bytes) = text.body { stream.answer(bytes) }
            if !stream.waitingContent.isWhole { stream.stopReading() }
        case .cut(.stream(let code)): stream.reset(code)
        case .cut(.finish): await finish(isTruncated: false)
        case .cut(.truncate): await finish(isTruncated: true)
        case .cut(.reset): connection.cut(reset: true)
        case .interrupted: await interrupt(stream)
        case .ended, .afterResponse, .left, .unwritable: stream.reset(HTTP2ErrorCode.cancel)
        }
    }

    /// Resets a stream behind what was sent of it.
    private func interrupt(_ stream: HTTP2Stream) async {
        stream.writeDeadline = worker.loop.now + worker.limits.writeTimeout
        do throws(HTTP2StreamFailure) {
            try await stream.settle()
        } catch {
            // The client has left, or takes nothing: it is told all the same.
        }
        stream.reset(HTTP2ErrorCode.internalError)
    }

    /// Ends the connection as far as the client can see, and lets it leave.
    private func finish(isTruncated: Bool) async {
        let stream = connection.stream
        if isTruncated { stream.channel.shutdownWriting() } else { await stream.finish() }
        let pause = ExchangePause(worker.loop)
        stream.channel.onPeerEnd { pause.end() }
        if !stream.channel.peerEnded { _ = await pause.wait(milliseconds: Self.patience) }
        connection.cut()
    }

    /// In milliseconds.
    private static let patience: UInt64 = 1_000

    // MARK: What the worker asks for

    func drain() {
        for exchange in open.values { exchange.pause.end() }
        connection.drain()
    }

    func cut() {
        for exchange in open.values { exchange.pause.leave() }
        connection.cut(reset: true)
    }
}
