package import Base
package import Sockets
package import TLS

/// Why a stream brings or takes nothing more.
package enum StreamFailure: Error, Sendable, Equatable {
    /// The deadline passed.
    case timedOut
    /// The peer broke the connection off.
    case reset
    /// This side closed it: a shutdown, or the other leg ended.
    case closed
    /// The system failed in another way.
    case system(SystemError)
    /// TLS cannot go on.
    ///
    /// Indirect: failures are rare, and the frame of whatever may wait has room for several.
    indirect case tls(TLSFailure)

    init(_ error: SystemError) {
        self = error.isReset ? .reset : .system(error)
    }

    /// Whether the deadline passed, in the handshake or later.
    package var isTimeout: Bool {
        switch self {
        case .timedOut: true
        case .tls(let failure): failure.reason == .timedOut
        case .reset, .closed, .system: false
        }
    }

    /// Whether the peer ended TLS because it wants a certificate of ours.
    package var demandsCertificate: Bool {
        if case .tls(let failure) = self { return failure.demandsCertificate }
        return false
    }

    /// Whether the peer had asked for a certificate of ours before it ended the connection.
    package var wantsCertificate: Bool {
        if case .tls(let failure) = self { return failure.wantsCertificate }
        return false
    }

    /// In words for a person, without a subject: `timed out`.
    package var detail: String {
        switch self {
        case .timedOut: "timed out"
        case .reset: "broke the connection off"
        case .closed: "was closed"
        case .system(let error): error.description
        case .tls(let failure): Self.words(failure)
        }
    }

    private static func words(_ failure: TLSFailure) -> String {
        switch failure.reason {
        case .alertReceived(let alert):
            failure.demandsCertificate
                ? "demands a client certificate: it ended TLS with the alert \(alert.name)"
                : "ended TLS with the alert \(alert.name)"
        case .peerReset where failure.wantsCertificate:
            "asked for a client certificate and broke the connection off"
        case .peerClosed: "closed the connection in the handshake"
        case .peerReset: "reset the connection in the handshake"
        case .protocolError where !failure.foreign.isEmpty:
            "answered TLS with \(ForeignProtocol(failure.foreign).text)"
        case .flood: "sent \(failure.detail)"
        case .protocolError, .timedOut, .closed: "failed in TLS: \(failure.detail)"
        }
    }
}

/// Bytes both ways, in order, whatever carries them.
///
/// One task may read while another writes. Deadlines are in milliseconds of the loop's clock.
package protocol TunnelStream: AnyObject {
    /// When waiting for the peer's bytes is given up.
    var readDeadline: UInt64 { get set }
    /// When waiting for the peer to take bytes is given up.
    var writeDeadline: UInt64 { get set }

    /// Reads into the buffer's room; waits until there is something.
    ///
    /// - Returns: how many bytes, 0 at the peer's end.
    func read(into buffer: ByteBuffer) async throws(StreamFailure) -> Int

    /// Waits until a read may bring something, holding no buffer.
    func waitReadable() async throws(StreamFailure)

    /// Sends all that the buffer holds, and consumes it.
    func write(_ buffer: ByteBuffer) async throws(StreamFailure)

    /// Whether the peer ended its direction in the way its protocol asks for: a TLS peer that goes
    /// without close_notify may have been cut off (RFC 8446 §6.1).
    var endedInOrder: Bool { get }

    /// Ends our direction in order; the peer may go on.
    func finish() async

    /// Ends our direction without the goodbye of its protocol, as one that may have been cut off.
    func cutOff()

    /// Breaks the connection off, as one does that is reset.
    func breakOff()

    /// Makes whoever waits, now or later, go on with `.closed`.
    func interrupt()

    /// Calls `action` when the peer is lost while nobody reads; `nil` ends that.
    func onLoss(_ action: (() -> Void)?)
}

extension TunnelStream {
    /// Ends our direction as the peer of another stream has ended its own.
    package func end(as source: any TunnelStream) async {
        if source.endedInOrder { await finish() } else { cutOff() }
    }
}

/// Bytes both ways over a socket.
package protocol ByteStream: TunnelStream {
    var channel: Channel { get }

    /// Whether bytes of the peer, or its end, were received and not read.
    var holdsBytes: Bool { get }

    /// Reads what is there without waiting, at most a few buffers' worth.
    ///
    /// - Returns: how many bytes, 0 at the peer's end; `nil` if neither is there.
    func readAtOnce(into buffer: ByteBuffer) throws(StreamFailure) -> Int?

    /// Sends what the kernel takes without waiting, and consumes it. To be tried ahead of `write` where
    /// each exchange passes: a call that may wait costs more than one that does not.
    ///
    /// - Returns: whether all has gone; `write` sends the rest, also where the buffer is empty already.
    func writeAtOnce(_ buffer: ByteBuffer) throws(StreamFailure) -> Bool

    /// Gives back what is held for speed, on a connection that pauses.
    func releaseMemory()
}

extension ByteStream {
    package func onLoss(_ action: (() -> Void)?) { channel.onLoss(action) }

    package func releaseMemory() {}

    package func cutOff() { channel.shutdownWriting() }

    package func breakOff() { close(reset: true) }

    package var loop: EventLoop { channel.loop }

    package func interrupt() { channel.interrupt() }

    /// When waiting for the peer's bytes is given up.
    package var readDeadline: UInt64 {
        get { channel.readDeadline }
        set { channel.readDeadline = newValue }
    }

    /// When waiting for the peer to take bytes is given up.
    package var writeDeadline: UInt64 {
        get { channel.writeDeadline }
        set { channel.writeDeadline = newValue }
    }

    /// Closes both directions at once.
    package func close(reset: Bool = false) {
        channel.close(reset: reset)
    }
}

extension ByteStream {
    /// Ends the connection so that what was sent last arrives.
    ///
    /// - Parameters:
    ///   - limit: how much of what the peer may still be sending is thrown away, in bytes: closing
    ///     with bytes unread resets the connection, and the reset can overtake the answer (RFC 9112
    ///     §9.6).
    ///   - patience: for how long at most, in milliseconds; clients read the answer to an upload when
    ///     they have sent all of it.
    ///   - isTruncated: whether the goodbye of the protocol is left out, on purpose.
    package func endInOrder(
        discarding limit: Int, patience: UInt64 = 30_000, isTruncated: Bool = false
    ) async {
        await sayGoodbye(discarding: limit, patience: patience, isTruncated: isTruncated)
        channel.close()
    }

    /// The same, but for the last step, which is the caller's: closing the channel.
    package func sayGoodbye(
        discarding limit: Int, patience: UInt64, isTruncated: Bool
    ) async {
        guard !channel.isClosed else { return }
        channel.resumeWaiting()
        channel.writeDeadline = loop.now + 2_000
        if isTruncated { channel.shutdownWriting() } else { await finish() }
        if limit > 0, !channel.peerEnded, !channel.isBroken { await discardRest(limit, patience) }
    }

    private func discardRest(_ limit: Int, _ patience: UInt64) async {
        let buffer = loop.buffers.take()
        defer { loop.buffers.give(buffer) }
        let end = loop.now + patience
        var discarded = 0
        do throws(StreamFailure) {
            while loop.now < end, discarded < limit {
                readDeadline = min(end, loop.now + 1_000)
                let count = try await read(into: buffer)
                if count == 0 { return }
                discarded += count
                buffer.removeAll()
            }
        } catch {
            // Whatever ends the wait, the connection is closed next.
        }
    }
}
