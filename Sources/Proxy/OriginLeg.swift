internal import Base
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

/// A connection to an origin.
///
/// `@unchecked Sendable`: the tasks that use it run on its loop's executor.
final class OriginLeg: @unchecked Sendable {
    let target: OriginTarget
    let serverName: String?
    let stream: any ByteStream
    let address: SocketAddress
    /// Bytes of the origin that were read and not yet relayed.
    var unread: ByteBuffer?
    var exchangeCount = 0
    /// Whether an authentication is bound to the connection, so that no other client may have it.
    var isPersonal = false
    /// When it was last put aside, in milliseconds of the loop's clock.
    var idleSince: UInt64 = 0
    /// What had passed when the client that has it now got it.
    private var before = ByteCount()
    /// Facts of its handshake; `nil` without TLS.
    private(set) var tls: TLSRecord?

    init(
        target: OriginTarget, serverName: String?, stream: any ByteStream, address: SocketAddress,
        tls: TLSRecord?
    ) {
        self.target = target
        self.serverName = serverName
        self.stream = stream
        self.address = address
        self.tls = tls
    }

    /// Why the origin's certificate does not verify; `nil` if it does, or there is no TLS.
    var verifyError: String? { tls?.verifyError }

    /// What has passed since the last call.
    func takeBytes() -> ByteCount {
        let channel = stream.channel
        let now = ByteCount(received: channel.bytesReceived, sent: channel.bytesSent)
        defer { before = now }
        return ByteCount(received: now.received - before.received, sent: now.sent - before.sent)
    }

    /// Whether the next request may go over it: its origin is there, and has said nothing that a
    /// request did not ask for. One that was never used may hold TLS tickets.
    var isReady: Bool {
        let channel = stream.channel
        guard !channel.peerEnded, !channel.isBroken, !channel.isClosed else { return false }
        guard exchangeCount > 0 else { return true }
        return unread == nil && !stream.holdsBytes && (!channel.isReadableNow || channel.isQuiet)
    }

    func releaseUnread() {
        guard let unread else { return }
        self.unread = nil
        stream.loop.buffers.give(unread)
    }

    func close() {
        releaseUnread()
        stream.close()
    }
}

/// Connections to origins that are not in use.
struct OriginPool {
    private var idle: [OriginTarget: [OriginLeg]] = [:]
    private var count = 0
    private let countLimit: Int
    private let idleLimit: UInt64

    init(limits: ProxyLimits) {
        countLimit = limits.originIdleCount
        idleLimit = limits.originIdle
    }

    /// Takes the connection that was used last, if there is one that still lives.
    mutating func take(_ target: OriginTarget, serverName: String?) -> OriginLeg? {
        guard var legs = idle[target] else { return nil }
        defer { idle[target] = legs.isEmpty ? nil : legs }
        while let index = legs.lastIndex(where: { $0.serverName == serverName }) {
            let leg = legs.remove(at: index)
            count -= 1
            if leg.stream.channel.isQuiet { return leg }
            leg.close()
        }
        return nil
    }

    /// Keeps a connection for the next client, or closes it.
    mutating func give(_ leg: OriginLeg, now: UInt64) {
        guard count < countLimit, !leg.isPersonal, leg.isReady else {
            leg.close()
            return
        }
        leg.idleSince = now
        leg.stream.releaseMemory()
        idle[leg.target, default: []].append(leg)
        count += 1
    }

    /// Closes what was unused for too long, or has been closed by its origin.
    mutating func sweep(now: UInt64) {
        guard count > 0 else { return }
        for target in Array(idle.keys) {
            guard let legs = idle[target] else { continue }
            let kept = legs.filter { leg in
                if now < leg.idleSince + idleLimit, !leg.stream.channel.peerEnded { return true }
                leg.close()
                return false
            }
            count -= legs.count - kept.count
            idle[target] = kept.isEmpty ? nil : kept
        }
    }

    mutating func closeAll() {
        for leg in idle.values.joined() { leg.close() }
        idle = [:]
        count = 0
    }
}
