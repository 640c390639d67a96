internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Sockets
internal import Transport

/// One exchange on a stream of HTTP/2.
final class HTTP2ExchangeStream: ExchangeStream {
    let version = HTTPVersion.http2
    let pause: ExchangePause
    /// Taken once there is something for it.
    private(set) lazy var content = {
        hasContent = true
        return task.worker.streamContent.take()
    }()
    private var hasContent = false
    private let stream: HTTP2Stream
    private unowned let task: HTTP2ServerTask
    private let length: UInt64?
    /// Whether the client waits for a 100 before it sends the content.
    private var mustContinue: Bool
    private var hasBegun = false
    private var omitsEnd = false
    /// Whether our direction has ended with the head.
    private var hasEnded = false

    init(
        _ stream: HTTP2Stream, _ head: RequestHead, of task: HTTP2ServerTask
    ) throws(ServerEnd) {
        self.stream = stream
        self.task = task
        do throws(HTTP1Violation) {
            if case .length(let length) = try MessageFraming.ofRequest(head) {
                self.length = length
            } else {
                length = stream.waitingContent == (0, true) ? 0 : nil
            }
        } catch {
            throw .refused(error.status)
        }
        mustContinue = try head.expectsContinue && stream.waitingContent == (0, false)
        pause = ExchangePause(task.worker.loop)
    }

    func release() {
        if hasContent { task.worker.streamContent.give(content) }
    }

    var body: RequestBody { RequestBody(length: length, source: self) }

    let keepsAlive = true

    // MARK: The request's content

    var trailers: Fields { stream.trailers }

    func read(into buffer: ByteBuffer) async throws(Failure) -> Int {
        if mustContinue {
            mustContinue = false
            stream.inform(.own(status: 100) { _ in })
        }
        stream.readDeadline = task.worker.loop.now + task.worker.limits.bodyTimeout
        do throws(HTTP2StreamFailure) {
            return try await stream.read(into: buffer)
        } catch {
            throw Failure(
                "request-body", party: .client, "request body: the client \(error.detail)")
        }
    }

    func inform(_ status: Int, _ fields: [ResponseField]) async {
        guard !hasBegun else { return }
        stream.inform(
            .own(status: status) { add in
                for field in fields where Self.mayPass(field) { add(field.name, field.value) }
            })
    }

    private static func mayPass(_ field: ResponseField) -> Bool {
        !ResponsePlan.isFraming(field.name) && !ResponsePlan.isOfConnection(field.name)
    }

    func wait(milliseconds: UInt64?) async -> Bool {
        await pause.wait(milliseconds: milliseconds)
    }

    // MARK: The response

    func begin(_ plan: ResponsePlan, pace: Pace?) async throws(ServerEnd) {
        hasBegun = true
        omitsEnd = plan.omitsEnd
        if let pace {
            // A head is one frame: it comes as late as its last byte would.
            let slices = UInt64(plan.head.count / pace.slice)
            guard await pause.wait(milliseconds: slices * pace.interval) else { throw .left }
        }
        hasEnded = plan.framing == .none && !omitsEnd
        stream.respond(.own(status: plan.status, plan.eachField), endsStream: hasEnded)
    }

    func flush() async throws(ServerEnd) {
        guard hasContent, !content.isEmpty else { return }
        stream.writeDeadline = task.worker.loop.now + task.worker.limits.writeTimeout
        do throws(HTTP2StreamFailure) {
            try await stream.write(content)
        } catch {
            throw .unwritable(isTimeout: error == .timedOut)
        }
    }

    func end(trailers: [ResponseField], goodbye: Delivery.GoAway?) async throws(ServerEnd) {
        try await flush()
        if omitsEnd {
            try await settle()
            throw .cut(.stream(HTTP2ErrorCode.internalError))
        }
        if !hasEnded {
            stream.end(
                trailers: trailers.isEmpty
                    ? nil
                    : .own(status: nil) { add in
                        for field in trailers where Self.mayPass(field) {
                            add(field.name, field.value)
                        }
                    })
        }
        if let goodbye {
            try await settle()
            goAway(goodbye)
        }
        if !stream.waitingContent.isWhole { stream.stopReading() }
        stream.writeDeadline = task.worker.loop.now + task.worker.limits.writeTimeout
        do throws(HTTP2StreamFailure) {
            // A client that never takes the rest is not to hold the stream.
            try await stream.untilClosed()
        } catch {
            throw .unwritable(isTimeout: error == .timedOut)
        }
    }

    func settle() async throws(ServerEnd) {
        stream.writeDeadline = task.worker.loop.now + task.worker.limits.writeTimeout
        do throws(HTTP2StreamFailure) {
            try await stream.settle()
        } catch {
            throw .unwritable(isTimeout: error == .timedOut)
        }
        await pause.untilAcknowledged(task.connection.stream.channel)
    }

    func goAway(_ goodbye: Delivery.GoAway) {
        task.connection.announceEnd(
            last: goodbye.isProcessed ? stream.id : max(0, stream.id - 2), code: goodbye.code,
            detail: goodbye.detail)
    }

    /// A stream is over once its last frame has gone out, and the connection goes on.
    func watch(_ sent: SentResponse, _ onEnd: @escaping (SentResponse) -> Void) {}

    /// Other streams' bytes are among those of the connection.
    var unacknowledged: Int? { nil }
}
