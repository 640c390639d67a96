internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import Origins
internal import Sockets
internal import Traffic
internal import Transport

/// A connection of HTTP/2 to an origin, which many requests use at once.
///
/// `@unchecked Sendable`: the tasks that use it run on its loop's executor.
final class HTTP2ClientLeg: @unchecked Sendable {
    let origin: OriginLeg
    let connection: HTTP2Connection
    var record: ConnectionRecord
    /// Requests under way.
    private var openCount = 0
    /// How many may be.
    private var limit: Int
    private var waiting: [LoopWakeup] = []
    private var hasSettings = false

    init(
        _ origin: OriginLeg, record: ConnectionRecord, _ configuration: ClientConfiguration
    ) {
        self.origin = origin
        self.record = record
        limit = max(1, configuration.streamLimit)
        connection = HTTP2Connection(
            origin.stream, role: .client,
            times: HTTP2Times(
                write: configuration.writeTimeout, idle: configuration.idleTimeout))
        connection.onSettings = { [weak self] _ in
            self?.hasSettings = true
            self?.wakeAll()
        }
        connection.onGoingAway = { [weak self] in self?.wakeAll() }
    }

    var target: OriginTarget { origin.target }

    /// Whether the next request may go over it.
    var isReady: Bool { !connection.isGoingAway && connection.end == nil }

    /// Waits for the origin's settings, which show that it speaks HTTP/2 (RFC 9113 §3.4).
    func hasAgreed(by deadline: UInt64) async -> Bool {
        while !hasSettings, isReady, await wait(until: deadline) {}
        return hasSettings
    }

    /// Whether the origin takes WebSockets (RFC 8441 §3), as its settings say.
    func takesWebSockets(by deadline: UInt64) async -> Bool {
        await hasAgreed(by: deadline) && connection.peerSettings.allowsExtendedConnect
    }

    /// Takes the right to a stream, to be given back by `release`; waits for one as long as others
    /// end.
    ///
    /// - Returns: `false` if the connection takes no more.
    func take(timeout: UInt64) async throws(Failure) -> Bool {
        while isReady, openCount >= min(limit, Int(connection.peerSettings.concurrentStreamLimit)) {
            guard await wait(until: connection.stream.loop.now + timeout) else {
                throw Failure(
                    "timed-out", party: .origin,
                    "\(target.authority): takes no more requests at once")
            }
        }
        guard isReady else { return false }
        openCount += 1
        record.exchangeCount += 1
        return true
    }

    /// - Parameter isRefused: whether the origin had too many of them.
    func release(isRefused: Bool) {
        openCount -= 1
        if isRefused, isReady { limit = max(1, min(limit, openCount)) }
        wakeAll()
    }

    private func wait(until deadline: UInt64) async -> Bool {
        let wakeup = LoopWakeup(connection.stream.loop)
        waiting.append(wakeup)
        defer { waiting.removeAll { $0 === wakeup } }
        return await wakeup.wait(until: deadline)
    }

    private func wakeAll() {
        for wakeup in waiting { wakeup.wake() }
    }

    /// Takes down how it ended.
    func noteEnd(closedByUs: Bool) {
        let channel = connection.stream.channel
        record.originBytes = ByteCount(
            received: channel.bytesReceived, sent: channel.bytesSent)
        origin.addLateFacts(to: &record.originTLS)
        record.closedAt = .now()
        record.closedBy = closedByUs || connection.end == .idle ? .tool : .origin
        switch connection.end {
        case .finished, .idle, nil: record.outcome = .completed
        case .peerClosed where openCount == 0: record.outcome = .completed
        case .failed where openCount == 0 && closedByUs: record.outcome = .completed
        case .some(let end):
            record.outcome = .broken
            record.cause = "origin \(HTTP2StreamFailure.connectionLost(end).detail)"
        }
    }
}
