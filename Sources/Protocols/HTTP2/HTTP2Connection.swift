package import Base
package import HTTPCodecs
internal import HTTPModel
internal import Sockets
package import Transport

/// Why a connection of HTTP/2 came to its end.
package enum HTTP2End: Sendable, Equatable {
    /// In order: one side said GOAWAY, and the streams have ended.
    case finished
    /// The peer closed without a word; `HTTP2Connection.streamCount` tells whether in the middle.
    case peerClosed
    case failed(StreamFailure)
    case violation(HTTP2Violation)
    /// Nothing was spoken for too long.
    case idle
}

/// One end of a connection of HTTP/2 over a byte stream: reads frames for its streams, and writes
/// what they have to say.
///
/// What the streams of one round of the loop say goes out together.
///
/// `@unchecked Sendable`: its tasks run on its loop's executor.
@safe
package final class HTTP2Connection: @unchecked Sendable {
    package let stream: any ByteStream
    let session: HTTP2Session
    private let times: HTTP2Times
    private var streams: [Int32: HTTP2Stream] = [:]
    /// Why it came to its end, `nil` while it goes on.
    package private(set) var end: HTTP2End?
    /// Whether the peer has said that it ends the connection in order (RFC 9113 §6.8).
    package private(set) var hasPeerSaidGoodbye = false
    /// Whether no new streams are to be opened.
    package private(set) var isGoingAway = false
    private var hasAnnouncedEnd = false
    /// Streams whose writer waits until nothing is left to be sent.
    private var settling: Set<Int32> = []
    private var isWriting = false
    private var isFlushPlanned = false
    private var mustWrite = false
    private var writer: UnsafeContinuation<Void, Never>?
    /// Until when the rest of a peer that takes nothing more is read, in milliseconds of the loop's
    /// clock; `nil` while it takes bytes.
    private var farewell: UInt64?
    /// When a stream was open last, in milliseconds of the loop's clock.
    package private(set) var busyTick: UInt64

    // What its owner wants to hear of.
    package var onSettings: ((HTTP2PeerSettings) -> Void)?
    package var onSideFrame: ((HTTP2SideFrame) -> Void)?
    /// Called when the last stream has ended.
    package var onQuiet: (() -> Void)?
    /// Called when the connection can take no new streams any more.
    package var onGoingAway: (() -> Void)?
    /// Awaited after each read, so that who records can slow the peer down.
    package var afterRead: (() async -> Void)?

    package init(
        _ stream: any ByteStream, role: HTTP2Session.Role, limits: HTTP2Limits = HTTP2Limits(),
        times: HTTP2Times, allowsExtendedConnect: Bool = false
    ) {
        self.stream = stream
        self.times = times
        session = HTTP2Session(
            role: role, limits: limits, allowsExtendedConnect: allowsExtendedConnect)
        busyTick = stream.loop.now
    }

    package var streamCount: Int { streams.count }
    package var peerSettings: HTTP2PeerSettings { session.peerSettings }
    /// Whether the peer has taken our settings: it reads and answers what we say.
    package var hasAcknowledged: Bool { session.hasAcknowledged }

    /// How many frames of a type the peer has sent.
    package func count(of type: HTTP2FrameType) -> Int { session.count(of: type) }

    private var loop: EventLoop { stream.loop }

    /// Reads and writes until the connection's end; every stream has ended when it returns.
    ///
    /// - Parameter serve: serves a stream that the peer opened.
    package func run(
        _ serve: @escaping @Sendable (HTTP2Stream) async -> Void = { _ in }
    ) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.writeFrames() }
            await readFrames { stream in
                group.addTask {
                    await serve(stream)
                    stream.abandon()
                }
            }
        }
        onSettings = nil
        onSideFrame = nil
        onQuiet = nil
        onGoingAway = nil
        afterRead = nil
        // A stream holds its connection: those that a lost connection left would hold it for ever.
        streams = [:]
    }

    // MARK: Reading

    private func readFrames(_ start: (HTTP2Stream) -> Void) async {
        flush()
        // What came with the preface or an upgrade may wait already.
        dispatch(start)
        while end == nil {
            await readOnce()
            dispatch(start)
            flush()
            await afterRead?()
            if session.isOver { finish(endInOrder) }
        }
    }

    /// What it is when nothing more is to be read or sent.
    private var endInOrder: HTTP2End { session.failure.map { .violation($0) } ?? .finished }

    private func readOnce() async {
        stream.readDeadline = farewell ?? .max
        do throws(StreamFailure) {
            try await stream.waitReadable()
            let buffer = loop.buffers.take()
            defer { loop.buffers.give(buffer) }
            guard try await stream.read(into: buffer) > 0 else { return finish(.peerClosed) }
            receive(buffer)
        } catch {
            finish(session.isOver ? endInOrder : .failed(error))
        }
    }

    /// Takes bytes of the peer; its owner gives those that were read before the connection was made.
    package func receive(_ buffer: ByteBuffer) {
        do throws(HTTP2Violation) {
            try session.receive(buffer.readable, now: loop.now)
        } catch {
            if case .flood = error {
                session.terminate(HTTP2ErrorCode.enhanceYourCalm)
            } else {
                session.terminate(HTTP2ErrorCode.protocolError)
            }
            finish(.violation(error))
        }
        for frame in session.takeSideFrames() { onSideFrame?(frame) }
    }

    /// Hands what was read to the streams that it is for.
    private func dispatch(_ start: (HTTP2Stream) -> Void) {
        for event in session.takeEvents() {
            switch event {
            case .head(let id, let head):
                if let stream = streams[id] {
                    stream.take(head: head)
                } else if session.role == .server {
                    start(open(id, head))
                }
            case .content(let id, let bytes):
                if let stream = streams[id] {
                    stream.take(content: bytes)
                } else {
                    session.consume(id, bytes.count)
                }
            case .trailers(let id, let fields): streams[id]?.take(trailers: fields)
            case .ended(let id): streams[id]?.takeEnd()
            case .closed(let id, let code): close(id, code)
            case .settings(let settings): onSettings?(settings)
            case .goAway(_, let code):
                hasPeerSaidGoodbye = code == HTTP2ErrorCode.noError
                goAway()
            case .promise: break
            case .unsent(let id): streams[id]?.take(failure: .unsent)
            case .violated(let id, let detail): streams[id]?.take(malformed: detail)
            case .malformed(let id, let head, let detail):
                if let stream = streams[id] {
                    stream.take(malformed: detail)
                } else if session.role == .server {
                    let stream = open(id, head)
                    stream.take(refused: detail)
                    start(stream)
                }
            }
        }
    }

    private func open(
        _ id: Int32, _ head: HTTP2Head?, hasFinished: Bool = false
    ) -> HTTP2Stream {
        let stream = HTTP2Stream(id, on: self, head: head, hasFinished: hasFinished)
        streams[id] = stream
        // It came with what ended the connection: it is told of, and not served.
        if let end { stream.take(failure: .connectionLost(end)) }
        return stream
    }

    private func close(_ id: Int32, _ code: UInt32) {
        guard let stream = streams.removeValue(forKey: id) else { return }
        stream.takeClose(code)
        busyTick = loop.now
        if streams.isEmpty {
            onQuiet?()
            if session.isOver { self.stream.channel.interrupt() }
        }
    }

    private func goAway() {
        guard !isGoingAway else { return }
        isGoingAway = true
        onGoingAway?()
    }

    // MARK: Writing

    /// Sends what waits, at the end of the loop's round.
    func flush() {
        guard !isFlushPlanned else { return }
        isFlushPlanned = true
        loop.atEndOfRound { [self] in
            isFlushPlanned = false
            wakeWriter()
        }
    }

    private func wakeWriter() {
        mustWrite = true
        guard let waiting = unsafe writer else { return }
        unsafe writer = nil
        unsafe waiting.resume()
    }

    private func writeFrames() async {
        while true {
            mustWrite = false
            await sendAll()
            if farewell != nil { return }
            if end != nil, !session.wantsToSend || stream.channel.isClosed { return }
            if session.isOver {
                finish(endInOrder)
                stream.channel.interrupt()
                return
            }
            if mustWrite { continue }
            if end != nil { return }
            unsafe await withUnsafeContinuation { unsafe writer = $0 }
        }
    }

    private func sendAll() async {
        isWriting = true
        defer {
            isWriting = false
            if !settling.isEmpty { wakeSettling() }
        }
        while session.wantsToSend {
            let out = loop.buffers.take()
            defer { loop.buffers.give(out) }
            let drained = session.send(into: out)
            dispatch { _ in }
            guard !out.isEmpty else { return }
            stream.writeDeadline = loop.now + times.write
            do throws(StreamFailure) {
                try await stream.write(out)
            } catch .reset {
                // What it said before it broke off waits to be read: an answer, or a GOAWAY.
                farewell = loop.now + times.write
                goAway()
                return
            } catch {
                finish(.failed(error))
                stream.close()
                return
            }
            for id in drained { streams[id]?.roomCame() }
            if let failure = session.failure {
                finish(.violation(failure))
                stream.channel.interrupt()
            }
        }
    }

    /// Whether something of a stream may not have been written yet; its writer is woken when more has.
    func awaitsSettling(_ id: Int32) -> Bool {
        guard
            session.holdsContent(of: id) || session.wantsToSend || isFlushPlanned || isWriting
        else { return false }
        settling.insert(id)
        return true
    }

    private func wakeSettling() {
        let waiting = settling
        settling = []
        for id in waiting { streams[id]?.wakeWriter() }
    }

    // MARK: Ending

    private func finish(_ end: HTTP2End) {
        guard self.end == nil else { return }
        self.end = end
        goAway()
        for stream in streams.values { stream.take(failure: .connectionLost(end)) }
        wakeWriter()
    }

    /// Takes no new streams, lets those that are open end, and then ends the connection.
    package func drain() {
        guard !hasAnnouncedEnd, end == nil else { return }
        hasAnnouncedEnd = true
        goAway()
        session.announceEnd()
        flush()
    }

    /// Says GOAWAY as a fault: streams above `last` are given up, those below go on.
    package func announceEnd(last: Int32, code: UInt32, detail: [UInt8] = []) {
        guard end == nil else { return }
        hasAnnouncedEnd = true
        goAway()
        session.announceEnd(last: last, code: code, detail: detail)
        flush()
    }

    /// Ends the connection now.
    package func cut(reset: Bool = false) {
        finish(.failed(.closed))
        stream.close(reset: reset)
    }

    /// Tells the client that its streams may ask for other protocols.
    package func allowExtendedConnect() {
        session.allowExtendedConnect()
        flush()
    }

    /// Ends streams that have waited too long, and a connection that nobody uses.
    package func sweep() {
        let now = loop.now
        for stream in streams.values { stream.expire(now: now) }
        session.sweep()
        flush()
        if streams.isEmpty, now > busyTick + times.idle, end == nil {
            session.terminate(HTTP2ErrorCode.noError)
            finish(.idle)
            stream.channel.interrupt()
        }
    }

    // MARK: Streams of our own

    /// Sends a request on a new stream.
    ///
    /// - Returns: `nil` if the connection takes none any more.
    package func request(_ fields: HTTP2Fields, endsStream: Bool) -> HTTP2Stream? {
        guard !isGoingAway, end == nil,
            let id = session.request(fields, endsStream: endsStream)
        else { return nil }
        busyTick = loop.now
        flush()
        return open(id, nil, hasFinished: endsStream)
    }

    /// Takes over a connection of HTTP/1 whose first request is stream 1 (RFC 7540 §3.2).
    ///
    /// - Returns: that stream; `nil` if the client's settings are broken.
    package func upgrade(settings: [UInt8], isHead: Bool) -> HTTP2Stream? {
        guard session.upgrade(settings: settings, isHead: isHead) else { return nil }
        return open(1, nil, hasFinished: session.role == .client)
    }
}

/// How long a connection waits, in milliseconds.
package struct HTTP2Times: Sendable {
    /// For the peer to take bytes.
    package let write: UInt64
    /// Without any stream.
    package let idle: UInt64

    package init(write: UInt64, idle: UInt64) {
        self.write = write
        self.idle = idle
    }
}
