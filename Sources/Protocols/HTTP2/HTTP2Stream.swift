package import Base
package import HTTPCodecs
package import HTTPModel
internal import Transport

/// Why a stream brings or takes nothing more.
package enum HTTP2StreamFailure: Error, Sendable, Equatable {
    /// The peer gave it up, with the code of its RST_STREAM.
    case reset(UInt32)
    indirect case connectionLost(HTTP2End)
    /// Nothing came until the deadline of this wait; whoever has the patience may wait again.
    case silent
    /// The peer took nothing for too long: the stream is over.
    case timedOut
    /// This side no longer wants to read.
    case stopped
    /// The peer's head or content is not what RFC 9113 §8 allows.
    case malformed(String)
    /// A head or trailers of ours are too large.
    case unsent

    /// In words for a person, without a subject.
    package var detail: String {
        switch self {
        case .reset(let code): "reset the stream with \(HTTP2ErrorCode.name(code))"
        case .connectionLost(.peerClosed), .connectionLost(.finished):
            "ended the connection in the middle of a stream"
        case .connectionLost(.failed(let failure)): failure.detail
        case .connectionLost(.violation(let violation)): violation.detail
        case .connectionLost(.idle): "was silent for too long"
        case .silent, .timedOut: "timed out"
        case .stopped: "was no longer read"
        case .malformed(let detail): "sent a malformed message: \(detail)"
        case .unsent: "could not be sent a head or trailers of this size over HTTP/2"
        }
    }

    /// Whether the peer has surely done nothing with the request (RFC 9113 §8.7).
    package var isUnprocessed: Bool { self == .reset(HTTP2ErrorCode.refusedStream) }
}

/// One stream: a request and its response (RFC 9113 §5).
///
/// One task may read while another writes. `@unchecked Sendable`: they run on its loop's executor.
@safe
package final class HTTP2Stream: @unchecked Sendable {
    package let id: Int32
    /// What the peer opened it with; `nil` for a stream of our own.
    package let head: HTTP2Head?
    private let connection: HTTP2Connection
    private var heads: [HTTP2Head] = []
    /// Of `heads`, in bytes; the connection bounds them for all its streams together.
    private var waitingInterims = 0
    /// Whether what opened it was refused with a 400 before it got here.
    package private(set) var isRefused = false
    private var content = WaitingContent()
    /// Once `read` has come to the end: what stood behind the content.
    package private(set) var trailers = Fields.none
    /// Whether the peer has ended its direction.
    package private(set) var hasEnded = false
    /// Whether both directions are over.
    package private(set) var isClosed = false
    /// Whether nobody reads any more.
    private var hasStopped = false
    private var failure: HTTP2StreamFailure?
    private var reader: UnsafeContinuation<Void, Never>?
    private var writer: UnsafeContinuation<Void, Never>?
    private var lacksRoom = false
    private var hasReadLate = false
    private var isReadingInterrupted = false
    private var hasStoppedWriting = false
    /// When waiting for the peer is given up, in milliseconds of the loop's clock.
    package var readDeadline = UInt64.max
    package var writeDeadline = UInt64.max
    /// Called when the peer gives the stream up, while another leg is waited for; at once if it has done
    /// so already, as one does that leaves behind its request.
    package var onBreak: (() -> Void)? {
        didSet { if failure != nil { onBreak?() } }
    }

    /// Called when the peer takes no more of our direction, which has not ended: it has all that it
    /// wants (RFC 9113 §8.1), or is lost.
    package var onRefusal: (() -> Void)?
    private var hasFinished = false
    /// What came since the stream was given up behind what was said on it, in bytes, whose window is kept
    /// until it is reset; `nil` if it was not.
    private var withheld: Int?

    /// - Parameter hasFinished: whether what opened it ended our direction.
    init(_ id: Int32, on connection: HTTP2Connection, head: HTTP2Head?, hasFinished: Bool = false) {
        self.id = id
        self.hasFinished = hasFinished
        self.connection = connection
        self.head = head
    }

    deinit { releaseInterims(waitingInterims) }

    // MARK: Reading

    /// The next head, an interim one or the final; `nil` if the stream ended without.
    package func nextHead() async throws(HTTP2StreamFailure) -> HTTP2Head? {
        while heads.isEmpty {
            if let failure { throw failure }
            if hasEnded { return nil }
            try await waitToRead()
        }
        let head = heads.removeFirst()
        if head.status < 200 { releaseInterims(head.size) }
        return head
    }

    private func releaseInterims(_ size: Int) {
        guard size > 0 else { return }
        waitingInterims -= size
        connection.session.releaseInterims(size)
    }

    /// Reads content into the buffer's room.
    ///
    /// - Returns: how many bytes, 0 at the end.
    package func read(into buffer: ByteBuffer) async throws(HTTP2StreamFailure) -> Int {
        while content.isEmpty {
            if hasEnded { return 0 }
            if hasStopped || isReadingInterrupted { throw .stopped }
            if let failure { throw failure }
            try await waitToRead()
        }
        let count = content.read(into: buffer)
        connection.session.consume(id, count)
        connection.flush()
        return count
    }

    /// Whether the whole of the peer's direction has come, and how much content of it waits.
    package var waitingContent: (count: Int, isWhole: Bool) {
        (content.count, hasEnded)
    }

    /// Waits until a read brings something, or the end.
    package func waitReadable() async throws(HTTP2StreamFailure) {
        while content.isEmpty, !hasEnded {
            if let failure { throw failure }
            try await waitToRead()
        }
    }

    /// Makes whoever reads go on, and throws away what still comes. The peer is told to stop a
    /// moment after our direction has ended (RFC 9113 §8.1).
    package func stopReading() {
        discardContent()
        if !hasEnded, !isClosed {
            connection.session.resetAtEnd(id)
            connection.flush()
        }
        hasStopped = true
        wakeReader()
    }

    /// Makes whoever reads go on, until `resumeReading`; nothing is thrown away.
    package func interruptReading() {
        isReadingInterrupted = true
        wakeReader()
    }

    package func resumeReading() { isReadingInterrupted = false }

    /// Whether the peer gave the stream up, or its connection is lost.
    package var isGivenUp: Bool {
        switch failure {
        case .reset, .connectionLost: true
        case .silent, .timedOut, .stopped, .malformed, .unsent, nil: false
        }
    }

    /// Whether the connection was lost under it.
    package var hasLostConnection: Bool {
        if case .connectionLost = failure { true } else { false }
    }

    /// Why nobody waits for an answer; `nil` while somebody does.
    package var lostClient: HTTP2StreamFailure? { isGivenUp ? failure : nil }

    /// Why the head that opened the stream is not allowed; `nil` if it is.
    package var brokenHead: String? {
        if case .malformed(let detail)? = failure { detail } else { nil }
    }

    /// - Throws: `silent`.
    private func waitToRead() async throws(HTTP2StreamFailure) {
        unsafe await withUnsafeContinuation { unsafe reader = $0 }
        guard hasReadLate else { return }
        hasReadLate = false
        throw .silent
    }

    private func wakeReader() {
        guard let waiting = unsafe reader else { return }
        unsafe reader = nil
        unsafe waiting.resume()
    }

    func take(head: HTTP2Head) {
        if head.status < 200 { waitingInterims += head.size }
        heads.append(head)
        wakeReader()
    }

    func take(content bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        if let withheld {
            // A peer that takes nothing must not go on sending.
            self.withheld = withheld + bytes.count
        } else if failure != nil || hasStopped {
            connection.session.consume(id, bytes.count)
        } else {
            content.append(bytes)
        }
        wakeReader()
    }

    func take(trailers fields: Fields) { trailers = fields }

    func takeEnd() {
        hasEnded = true
        wakeReader()
    }

    func takeClose(_ code: UInt32) {
        isClosed = true
        if let withheld { connection.session.consume(id, withheld) }
        // Who takes no more of our direction has given the stream up, whatever the code says.
        let isOver = code == HTTP2ErrorCode.noError && hasEnded && hasFinished
        // Content that nobody reads any more would keep the connection's window shut.
        if !isOver { take(failure: .reset(code)) }
        wakeWriter()
        tellRefusal()
    }

    func take(malformed detail: String) { take(failure: .malformed(detail)) }

    func take(refused detail: String) {
        isRefused = true
        take(malformed: detail)
    }

    func take(failure: HTTP2StreamFailure) {
        guard self.failure == nil else { return }
        self.failure = failure
        wakeReader()
        wakeWriter()
        onBreak?()
        if !isClosed { tellRefusal() }
    }

    private func tellRefusal() {
        if !hasFinished { onRefusal?() }
    }

    // MARK: Writing

    /// Sends the head of a response.
    package func respond(_ fields: HTTP2Fields, endsStream: Bool) {
        guard !isClosed else { return }
        if endsStream { hasFinished = true }
        connection.session.respond(id, fields, endsStream: endsStream)
        connection.flush()
    }

    /// Sends an interim response.
    package func inform(_ fields: HTTP2Fields) {
        connection.session.inform(id, fields)
        connection.flush()
    }

    /// Sends all that the buffer holds, and consumes it; waits while too much is on its way.
    package func write(_ buffer: ByteBuffer) async throws(HTTP2StreamFailure) {
        if let failure { throw failure }
        if hasStoppedWriting { throw .stopped }
        guard !buffer.isEmpty else { return }
        lacksRoom = !connection.session.append(buffer.readable, to: id)
        buffer.removeAll()
        connection.flush()
        while lacksRoom {
            if let failure { throw failure }
            if hasStoppedWriting { throw .stopped }
            if isClosed { return }
            unsafe await withUnsafeContinuation { unsafe writer = $0 }
        }
    }

    /// Waits until all that was written has gone into the connection's stream.
    package func settle() async throws(HTTP2StreamFailure) {
        while !isClosed, connection.awaitsSettling(id) {
            if let failure { throw failure }
            unsafe await withUnsafeContinuation { unsafe writer = $0 }
        }
        if let failure, isGivenUp { throw failure }
    }

    /// Waits until both directions are over, so that what was sent has gone out.
    ///
    /// - Throws: when the peer gave the stream up before.
    package func untilClosed() async throws(HTTP2StreamFailure) {
        while !isClosed {
            if let failure { throw failure }
            unsafe await withUnsafeContinuation { unsafe writer = $0 }
        }
        if let failure, failure != .reset(HTTP2ErrorCode.noError) { throw failure }
    }

    /// Sends a small content of our own behind the head, and ends our direction.
    package func answer(_ content: [UInt8]) {
        _ = connection.session.append(content.span, to: id)
        end()
    }

    /// Makes whoever writes go on: nobody wants the rest.
    package func stopWriting() {
        hasStoppedWriting = true
        wakeWriter()
    }

    /// Makes whoever waits on the stream go on, now and later.
    package func interrupt() { take(failure: .stopped) }

    /// Ends our direction.
    package func end(trailers: HTTP2Fields? = nil) {
        // What was broken off must not pass for whole.
        guard withheld == nil else { return }
        hasFinished = true
        connection.session.end(id, trailers: trailers)
        connection.flush()
    }

    /// Gives the stream up.
    package func reset(_ code: UInt32) {
        abandon()
        guard !isClosed else { return }
        connection.session.reset(id, code)
        connection.flush()
    }

    /// Gives the stream up once what was said on it has been sent.
    package func breakOff(_ code: UInt32) {
        take(failure: .stopped)
        abandon()
        guard !isClosed, withheld == nil else { return }
        withheld = 0
        connection.session.resetBehindContent(id, code)
        connection.flush()
    }

    /// Throws away what came and what still comes, so that the connection's window stays open for
    /// others.
    package func abandon() {
        discardContent()
        heads = []
        releaseInterims(waitingInterims)
        hasStopped = true
    }

    /// Gives the windows of content back that nobody reads.
    package func discardContent() {
        let count = content.removeAll()
        guard count > 0 else { return }
        connection.session.consume(id, count)
        connection.flush()
    }

    func roomCame() {
        lacksRoom = false
        wakeWriter()
    }

    func wakeWriter() {
        guard let waiting = unsafe writer else { return }
        unsafe writer = nil
        unsafe waiting.resume()
    }

    // MARK: Time

    func expire(now: UInt64) {
        if unsafe reader != nil, readDeadline <= now {
            hasReadLate = true
            wakeReader()
        }
        if unsafe writer != nil, writeDeadline <= now { take(failure: .timedOut) }
    }
}
