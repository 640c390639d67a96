package import Base
internal import CPlatform
internal import Glibc

/// A socket on an event loop: readiness is remembered, so that no wake-up is lost and nothing is
/// asked of the kernel that would only answer "not yet".
///
/// `@unchecked Sendable`: used on its loop's thread only.
@safe
package final class Channel: @unchecked Sendable {
    package let loop: EventLoop
    let descriptor: Int32
    private(set) var token: UInt64 = 0

    /// When waiting for bytes is given up, in milliseconds of `loop.now`; `.max` for never.
    package var readDeadline = UInt64.max
    /// The same for waiting to send.
    package var writeDeadline = UInt64.max
    package private(set) var bytesReceived: Int64 = 0
    package private(set) var bytesSent: Int64 = 0
    package private(set) var isClosed = false
    /// Whether it was closed because two tasks waited on it for the same, which is a bug of ours.
    package private(set) var hasConflicted = false
    /// Whether both directions are gone or the connection failed, as far as the kernel has told.
    package private(set) var isBroken = false
    /// Whether something else than a read was told of the peer's reset, which is told once: a read
    /// behind it finds an end.
    package private(set) var wasReset = false
    /// What two channels of one pair of sockets tell each other, which has no resets.
    private var pair: (own: PairReset, other: PairReset)?
    /// Whether the peer ended its direction; bytes may still wait before that end.
    package private(set) var peerEnded = false

    /// Whether nobody is to wait here any more.
    package private(set) var isInterrupted = false
    private var mayRead = true
    /// Whether a short read may have stopped before urgent data, of which no other event tells.
    private var mayHoldUrgent = false
    private var mayWrite = true
    private var reader: UnsafeContinuation<WaitOutcome, Never>?
    private var writer: UnsafeContinuation<WaitOutcome, Never>?
    private var readShare = RoundShare()
    private var readPortion = ReadPortion()
    private var writeShare = RoundShare()
    /// Whether the reader only lets the others have their turn: no deadline passes for it meanwhile,
    /// since bytes are there. The same of the writer.
    private var isReaderPaused = false
    private var isWriterPaused = false
    private var timer: LoopTimer?
    /// What was not acknowledged when it was closed, in bytes.
    private var countAtEnd: Int?
    /// Called when something happens, for who waits for one of several channels.
    private var onEvent: (() -> Void)?
    /// Called when the peer ends or breaks the connection, while another leg is waited for.
    private var onBreak: (() -> Void)?
    /// Called when it is found out that a peer that had ended its direction has closed the rest.
    private var onLoss: (() -> Void)?

    package enum WaitOutcome: Sendable {
        case ready
        case timedOut
        /// This side closed the channel, or no longer wants to wait.
        case closed
    }

    /// Takes the descriptor over; it must not block. On the loop's thread only.
    package init(descriptor: Int32, loop: EventLoop) throws(SystemError) {
        self.descriptor = descriptor
        self.loop = loop
        do {
            token = try loop.register(self)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    // MARK: Bytes

    /// Receives what is there into the buffer's room; 0 bytes is the peer's end.
    ///
    /// One that has had its share of the loop's round is told to wait, and `waitReadable` then
    /// suspends until the next: else a peer that sends faster than it is read would keep everybody
    /// else of the loop waiting.
    package func receive(into buffer: ByteBuffer) -> SystemCallOutcome {
        guard mayRead, !isClosed else { return isClosed ? .value(0) : .wouldBlock }
        let portion = readPortion.take(of: buffer.room, on: loop)
        guard !readShare.isUsedUp(on: loop) else { return .wouldBlock }
        return receive(into: buffer, atMost: portion)
    }

    /// The same whatever was received in this round: for what is asked for once.
    package func receiveBeyondShare(into buffer: ByteBuffer) -> SystemCallOutcome {
        guard mayRead, !isClosed else { return isClosed ? .value(0) : .wouldBlock }
        return receive(into: buffer, atMost: buffer.room)
    }

    private func receive(into buffer: ByteBuffer, atMost room: Int) -> SystemCallOutcome {
        var outcome = SystemCallOutcome.wouldBlock
        _ = unsafe buffer.fill { space in
            outcome = systemCall { unsafe recv(descriptor, space.baseAddress, room, 0) }
            guard case .value(let count) = outcome else { return 0 }
            return count
        }
        if outcome == .value(0), pair?.other.isTold ?? false {
            outcome = .failed(SystemError(ECONNRESET))
        }
        switch outcome {
        case .value(let count):
            bytesReceived += Int64(count)
            readShare.take(count, on: loop)
            readPortion.note(count, on: loop)
            // A short read emptied the kernel's buffer, unless the end is behind it.
            if count > 0, count < room, !peerEnded, !isBroken, !mayHoldUrgent { mayRead = false }
        case .wouldBlock:
            mayRead = false
            mayHoldUrgent = false
        case .failed: break
        }
        return outcome
    }

    /// Whether the peer has said nothing and not gone: what an idle connection must be to be used.
    package var isQuiet: Bool {
        guard !isClosed, !isBroken, !peerEnded else { return false }
        var byte: UInt8 = 0
        let outcome = systemCall { unsafe recv(descriptor, &byte, 1, platform_peek) }
        noteReset(in: outcome)
        return outcome == .wouldBlock
    }

    /// The first bytes that wait, at most `count`, which stay there.
    package func peek(_ count: Int) -> [UInt8] {
        guard !isClosed else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        let outcome = unsafe bytes.withUnsafeMutableBytes { space in
            systemCall {
                unsafe recv(descriptor, space.baseAddress, space.count, platform_peek)
            }
        }
        noteReset(in: outcome)
        guard case .value(let received) = outcome else { return [] }
        return Array(bytes[..<received])
    }

    private func noteReset(in outcome: SystemCallOutcome) {
        // EPIPE comes behind an end that was in order.
        if case .failed(let error) = outcome, error.number == ECONNRESET { wasReset = true }
    }

    /// Sends what the buffer holds, as far as the kernel takes it, and consumes that.
    package func send(_ buffer: ByteBuffer) -> SystemCallOutcome {
        guard mayWrite, !isClosed else {
            return isClosed ? .failed(SystemError(EPIPE)) : .wouldBlock
        }
        let wanted = buffer.count
        let outcome = unsafe buffer.withUnsafeReadable { bytes in
            systemCall {
                unsafe Glibc.send(
                    descriptor, bytes.baseAddress, bytes.count, platform_no_signal)
            }
        }
        switch outcome {
        case .value(let count):
            bytesSent += Int64(count)
            writeShare.take(count, on: loop)
            buffer.consume(count)
            if count < wanted { mayWrite = false }
        case .wouldBlock: mayWrite = false
        // Its event may come later.
        case .failed(let error):
            if error.isReset { isBroken = true }
            noteReset(in: outcome)
        }
        return outcome
    }

    /// Makes two channels tell each other of a close that resets, as sockets of TCP do.
    static func tie(_ first: Channel, _ second: Channel) {
        let (one, two) = (PairReset(), PairReset())
        first.pair = (one, two)
        second.pair = (two, one)
    }

    // MARK: Waiting

    /// Whether a `receive` may bring something without waiting.
    package var isReadableNow: Bool { mayRead }

    var mayWriteNow: Bool { mayWrite }

    /// The same of what was received, for who takes something else than bytes.
    var hasReceivedItsShare: Bool { mayRead && readShare.isUsedUp(on: loop) }

    /// Counts something that was taken and is no bytes.
    func noteTaken() { readShare.take(0, on: loop) }

    /// Whether so much was sent in this round that the others have to have their turn first, which
    /// `waitWritable` lets them have.
    package var hasSentItsShare: Bool { mayWrite && writeShare.isUsedUp(on: loop) }

    /// Notes that the kernel has said "not yet".
    func mustWaitToRead() { mayRead = false }
    func mustWaitToWrite() { mayWrite = false }

    /// Suspends until something happens on one of several channels, or `deadline` has passed.
    package static func waitForEvent(
        on channels: [Channel], loop: EventLoop, deadline: UInt64
    ) async {
        var timer: LoopTimer?
        unsafe await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            var isResumed = false
            let resume = {
                guard !isResumed else { return }
                isResumed = true
                for channel in channels { channel.onEvent = nil }
                unsafe continuation.resume()
            }
            for channel in channels { channel.onEvent = resume }
            // No event comes for bytes that are there and were left for the next round.
            if channels.contains(where: { $0.mayRead && $0.readShare.isUsedUp(on: loop) }) {
                loop.atStartOfNextRound(resume)
            }
            let made = loop.makeTimer(resume)
            timer = made
            loop.set(made, due: deadline)
        }
        if let timer { loop.set(timer, due: .max) }
    }

    /// Suspends until bytes, the end or an error may be there, or `readDeadline` has passed.
    package func waitReadable() async -> WaitOutcome {
        if isClosed { return .closed }
        readPortion.settle(on: loop)
        if mayRead {
            guard readShare.isUsedUp(on: loop) else { return .ready }
            return isInterrupted ? .closed : await pauseReading()
        }
        if isInterrupted { return .closed }
        return unsafe await withUnsafeContinuation { continuation in
            guard unsafe reader == nil else { return unsafe refuse(continuation) }
            unsafe reader = continuation
            arm(readDeadline)
        }
    }

    /// Suspends until the kernel takes bytes again, or `writeDeadline` has passed.
    package func waitWritable() async -> WaitOutcome {
        if isClosed { return .closed }
        if mayWrite {
            return writeShare.isUsedUp(on: loop) ? await pauseWriting() : .ready
        }
        if isInterrupted { return .closed }
        return unsafe await withUnsafeContinuation { continuation in
            guard unsafe writer == nil else { return unsafe refuse(continuation) }
            unsafe writer = continuation
            arm(writeDeadline)
        }
    }

    /// Ends a channel that two tasks wait on for the same: a bug of ours, which is to cost this
    /// connection and no other, whatever a peer did to bring it about.
    private func refuse(_ continuation: UnsafeContinuation<WaitOutcome, Never>) {
        hasConflicted = true
        close(reset: true)
        unsafe continuation.resume(returning: .closed)
    }

    private func pauseReading() async -> WaitOutcome {
        unsafe await withUnsafeContinuation { continuation in
            guard unsafe reader == nil else { return unsafe refuse(continuation) }
            unsafe reader = continuation
            isReaderPaused = true
            loop.atStartOfNextRound { [self] in if isReaderPaused { resumeReader(.ready) } }
        }
    }

    private func pauseWriting() async -> WaitOutcome {
        unsafe await withUnsafeContinuation { continuation in
            guard unsafe writer == nil else { return unsafe refuse(continuation) }
            unsafe writer = continuation
            isWriterPaused = true
            loop.atStartOfNextRound { [self] in if isWriterPaused { resumeWriter(.ready) } }
        }
    }

    private func resumeReader(_ outcome: WaitOutcome) {
        guard let waiting = unsafe reader else { return }
        unsafe reader = nil
        isReaderPaused = false
        unsafe waiting.resume(returning: outcome)
    }

    private func resumeWriter(_ outcome: WaitOutcome) {
        guard let waiting = unsafe writer else { return }
        unsafe writer = nil
        isWriterPaused = false
        unsafe waiting.resume(returning: outcome)
    }

    private func arm(_ deadline: UInt64) {
        guard deadline != .max else { return }
        let timer = self.timer ?? makeTimer()
        if deadline < timer.due { loop.set(timer, due: deadline) }
    }

    private func makeTimer() -> LoopTimer {
        let made = loop.makeTimer { [unowned self] in self.deadlinePassed() }
        timer = made
        return made
    }

    private func deadlinePassed() {
        let now = loop.now
        if !isReaderPaused, readDeadline <= now { resumeReader(.timedOut) }
        if !isWriterPaused, writeDeadline <= now { resumeWriter(.timedOut) }
        if unsafe reader != nil { arm(readDeadline) }
        if unsafe writer != nil { arm(writeDeadline) }
    }

    func becomeReady(_ readiness: Readiness) {
        guard !isClosed else { return }
        if readiness.peerEnded { peerEnded = true }
        if readiness.broken { isBroken = true }
        if readiness.urgent { mayHoldUrgent = true }
        if readiness.readable {
            mayRead = true
            resumeReader(.ready)
        }
        if readiness.writable {
            mayWrite = true
            resumeWriter(.ready)
        }
        onEvent?()
        if readiness.broken { onLoss?() }
        if readiness.broken || readiness.peerEnded { onBreak?() }
    }

    /// Calls `action` when the peer ends or breaks the connection; `nil` stops listening.
    package func onPeerEnd(_ action: (() -> Void)?) {
        onBreak = action
    }

    /// Calls `action` once the peer is known to have closed a connection whose direction it had ended
    /// before, of which no packet tells; `nil` stops waiting for that. At once if it is known.
    package func onLoss(_ action: (() -> Void)?) {
        onLoss = action
        if isBroken { action?() }
    }

    /// Whether somebody wants to know that the peer has closed the connection.
    package var awaitsLoss: Bool { onLoss != nil && !isBroken }

    /// Takes note that the peer has closed the connection.
    package func noteLoss() {
        guard !isClosed, !isBroken else { return }
        isBroken = true
        onLoss?()
    }

    /// Makes whoever waits on the channel, now or later, go on with `.closed`; bytes that are there
    /// can still be received and sent.
    package func interrupt() {
        isInterrupted = true
        resumeReader(.closed)
        // What is on its way goes out, as long as the peer takes it.
        if !isWriterPaused { resumeWriter(.closed) }
        onEvent?()
    }

    /// Takes an interruption back.
    package func resumeWaiting() {
        isInterrupted = false
    }

    /// Gives up waiting for bytes at `deadline`, if that is earlier than planned.
    package func hurryReading(until deadline: UInt64) {
        guard deadline < readDeadline else { return }
        readDeadline = deadline
        if unsafe reader != nil { arm(deadline) }
    }

    // MARK: Ending

    /// Ends our direction, in order.
    package func shutdownWriting() {
        guard !isClosed else { return }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes the socket; whoever waits goes on with `.closed`.
    ///
    /// - Parameter reset: whether the peer is told by a reset, as for an answer that is cut short.
    package func close(reset: Bool = false) {
        guard !isClosed else { return }
        countAtEnd = unacknowledgedCount
        isClosed = true
        if reset {
            pair?.own.isTold = true
            var option = linger(l_onoff: 1, l_linger: 0)
            unsafe setsockopt(
                descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        Glibc.close(descriptor)
        loop.unregister(self)
        onBreak = nil
        onLoss = nil
        let eventAction = onEvent
        onEvent = nil
        eventAction?()
        if let timer { loop.set(timer, due: .max) }
        resumeReader(.closed)
        resumeWriter(.closed)
    }

    // MARK: Options and names

    package func setNoDelay() {
        setOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    /// Acknowledges what has come now, and not with the next bytes that go out: a peer that holds
    /// a small write back until then (RFC 9293 §3.7.4) would wait 40 ms.
    package func acknowledgeAtOnce() {
        setOption(Int32(IPPROTO_TCP), TCP_QUICKACK, 1)
    }

    /// Receives urgent data where it stands among the rest, as it is passed on; apart, where nobody
    /// asks for it, it would be lost. Connections that a listener accepts have what it has.
    package func setUrgentInline() {
        setOption(SOL_SOCKET, SO_OOBINLINE, 1)
    }

    // The number of a closed descriptor may be another connection's: nothing is asked of it.

    private func setOption(_ level: Int32, _ name: Int32, _ value: Int32) {
        guard !isClosed else { return }
        var value = value
        unsafe setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Bytes that were sent and that the peer's system has not acknowledged, until now or until this
    /// side closed it; `nil` of what has no such count.
    package var unacknowledgedCount: Int? {
        guard !isClosed else { return countAtEnd }
        var count: Int32 = 0
        return unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : nil
    }

    /// Bytes of the peer that have arrived and were not received; `nil` if it is closed.
    package var arrivedCount: Int? {
        guard !isClosed else { return nil }
        var count: Int32 = 0
        return unsafe ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? Int(count) : nil
    }

    /// The error that the kernel holds for this socket, `nil` if none; asking clears it.
    package func takeError() -> SystemError? {
        guard !isClosed else { return nil }
        var number: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &length)
        return number == 0 ? nil : SystemError(number)
    }

    /// The address of this end, `nil` once it is closed.
    package var localAddress: SocketAddress? {
        guard !isClosed else { return nil }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe platform_socket_name(descriptor, &storage, &length) == 0
            ? SocketAddress(storage) : nil
    }

    /// The address of the other end, `nil` if it has gone or this end is closed.
    package var peerAddress: SocketAddress? {
        guard !isClosed else { return nil }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe platform_peer_name(descriptor, &storage, &length) == 0
            ? SocketAddress(storage) : nil
    }
}

/// Whether one end of a pair of sockets was closed by a reset.
private final class PairReset {
    var isTold = false
}
