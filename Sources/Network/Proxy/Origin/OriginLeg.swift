internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
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
    /// What was offered when it was opened; others may get it whose offer leads to the same.
    let offer: OriginOffer
    /// The streams of HTTP/2 on it; `nil` for a connection of HTTP/1 or of anything else.
    var http2: HTTP2Connection?
    let address: SocketAddress
    /// Bytes of the origin that were read and not yet relayed.
    var unread: ByteBuffer?
    var exchangeCount = 0
    /// The start of a head that broke the protocol: the evidence for the record.
    private(set) var brokenHead: [UInt8] = []
    /// Whether an authentication is bound to the connection, so that no other client may have it.
    var isPersonal = false
    /// Whose clients may be led over it.
    var reach = OriginReach.everywhere
    /// Whether it was opened for one client alone, and ends with it.
    var isOwned = false
    /// Whether our direction has ended, as the client's did.
    var hasFinished = false
    /// Where its responses to the client that has it now were not as they have to be, and were taken.
    var leniency: HeadLeniency = []
    /// When it was last put aside, in milliseconds of the loop's clock.
    var idleSince: UInt64 = 0
    /// What had passed when the client that has it now got it.
    private var before = ByteCount()
    /// Facts of its handshake; `nil` without TLS.
    private(set) var tls: TLSRecord?

    init(
        target: OriginTarget, serverName: String?, stream: any ByteStream, offer: OriginOffer,
        address: SocketAddress, tls: TLSRecord?
    ) {
        self.offer = offer
        self.target = target
        self.serverName = serverName
        self.stream = stream
        self.address = address
        self.tls = tls
    }

    /// Notes an authentication that is bound to the connection (RFC 4559 §6, NTLM) in a request or
    /// a response of it: such a connection is never given to another client.
    func notePersonal(_ fields: Fields) {
        guard !isPersonal else { return }
        isPersonal = fields.bindsConnection
    }

    /// Whether it asked for a client certificate in the handshake.
    var wantsCertificate: Bool { (stream as? TLSStream)?.session.wantsCertificate ?? false }

    /// Why the origin's certificate does not verify; `nil` if it does, or there is no TLS.
    var verifyError: String? { tls?.verifyError }

    /// What has passed since the last call.
    func takeBytes() -> ByteCount {
        let channel = stream.channel
        let now = ByteCount(received: channel.bytesReceived, sent: channel.bytesSent)
        defer { before = now }
        return ByteCount(received: now.received - before.received, sent: now.sent - before.sent)
    }

    /// Takes what was noted of its responses: the next client that gets it has nothing of it.
    func takeLeniency() -> HeadLeniency {
        defer { leniency = [] }
        return leniency
    }

    /// Whether the next request may go over it: its origin is there, and has said nothing that a
    /// request did not ask for. One that was never used may hold TLS tickets.
    var isReady: Bool {
        if let http2 { return !http2.isGoingAway && http2.end == nil }
        let channel = stream.channel
        guard !channel.peerEnded, !channel.isBroken, !channel.isClosed, !hasFinished else {
            return false
        }
        guard exchangeCount > 0 else { return true }
        return unread == nil && !stream.holdsBytes && (!channel.isReadableNow || channel.isQuiet)
    }

    /// Reads more of the origin, holding a buffer only once there is something.
    func fill() async throws(RelayFailure) {
        let count: Int
        do throws(StreamFailure) {
            if unread == nil {
                try await stream.waitReadable()
                unread = stream.loop.buffers.take()
            }
            guard let unread else { return }
            unread.compact()
            count = try await stream.read(into: unread)
        } catch {
            releaseUnread()
            throw .origin(error)
        }
        if count == 0 {
            releaseUnread()
            throw .originEnded
        }
    }

    /// Reads the next head of HTTP/1; `readDeadline` has to be set.
    func readHead(
        limits: HeadLimits, longHeads: LongHeadLedger
    ) async throws(RelayFailure) -> ResponseHead {
        var scannedCount = 0
        var long: LongHead?
        while true {
            if let unread {
                do throws(HTTP1Violation) {
                    if let (head, consumed) = try long == nil
                        ? ResponseReader.read(
                            unread.readable, limits: limits, alreadyScanned: scannedCount)
                        : readLongHead(unread, long, limits)
                    {
                        leniency.formUnion(head.leniency)
                        unread.consume(consumed)
                        if unread.isEmpty { releaseUnread() }
                        return head
                    }
                } catch {
                    brokenHead = Array(
                        (long?.bytes ?? unread.copy).prefix(Self.brokenHeadLimit))
                    throw .originViolation(error)
                }
                scannedCount = unread.count
                if unread.count == unread.capacity {
                    long = LongHead(limit: limits.blockLimit, in: longHeads)
                    continue
                }
            }
            let early = unread.map { $0.copy(0..<min($0.count, Self.brokenHeadLimit)) } ?? []
            do throws(RelayFailure) {
                try await fill()
            } catch .originEnded where !early.isEmpty && !early.starts(with: Self.version) {
                // It has said what it speaks, and that is not HTTP.
                brokenHead = early
                throw .originViolation(.invalidStatusLine)
            }
        }
    }

    /// The same for a head of which a part is held apart.
    private func readLongHead(
        _ unread: ByteBuffer, _ long: LongHead?, _ limits: HeadLimits
    ) throws(HTTP1Violation) -> (head: ResponseHead, consumed: Int)? {
        guard let long else { return nil }
        if try long.take(unread),
            let (head, consumed) = try ResponseReader.read(long.bytes.span, limits: limits)
        {
            return (head, max(0, unread.count - (long.bytes.count - consumed)))
        }
        unread.removeAll()
        return nil
    }

    private static let version = [UInt8]("HTTP/".utf8)

    /// Of a head that breaks the protocol, in bytes.
    private static let brokenHeadLimit = 4096

    func releaseUnread() {
        guard let unread else { return }
        self.unread = nil
        stream.loop.buffers.give(unread)
    }

    /// Whether nothing came in since it was put aside.
    var isQuiet: Bool { http2 == nil ? stream.channel.isQuiet : isReady }

    func close() {
        releaseUnread()
        // The task that reads for its streams closes it, once its goodbye is sent.
        if let http2 { http2.drain() } else { stream.close() }
    }
}

/// What an origin is asked to speak.
enum OriginOffer: Sendable, Equatable {
    /// By ALPN (RFC 7301), in the order of preference.
    case protocols([String])
    /// HTTP/1 without TLS.
    case plain
    /// HTTP/2 without TLS and with prior knowledge (RFC 9113 §3.3).
    case plainHTTP2

    static let http1 = OriginOffer.protocols(["http/1.1"])

    /// Whether a connection speaks what the origin would choose from this offer.
    func accepts(_ leg: OriginLeg) -> Bool {
        if leg.offer == self { return true }
        guard case .protocols(let names) = self, case .protocols = leg.offer else { return false }
        if leg.http2 != nil { return names.contains("h2") }
        return names == ["http/1.1"] && leg.tls?.alpn.map { $0 == "http/1.1" } ?? true
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
    mutating func take(
        _ target: OriginTarget, serverName: String?, offer: OriginOffer, reach: OriginReach
    ) -> OriginLeg? {
        guard var legs = idle[target] else { return nil }
        defer { idle[target] = legs.isEmpty ? nil : legs }
        while let index = legs.lastIndex(where: {
            $0.serverName == serverName && offer.accepts($0) && reach.includes($0.reach)
        }) {
            let leg = legs.remove(at: index)
            count -= 1
            if leg.isQuiet { return leg }
            leg.close()
        }
        return nil
    }

    /// Keeps a connection for the next client, or closes it.
    mutating func give(_ leg: OriginLeg, now: UInt64) {
        guard count < countLimit, !leg.isPersonal, !leg.isOwned, leg.isReady,
            leg.http2?.streamCount ?? 0 == 0
        else {
            leg.close()
            return
        }
        leg.idleSince = now
        if leg.http2 == nil { leg.stream.releaseMemory() }
        idle[leg.target, default: []].append(leg)
        count += 1
    }

    /// Closes what was unused for too long, or has been closed by its origin.
    mutating func sweep(now: UInt64) {
        guard count > 0 else { return }
        for target in Array(idle.keys) {
            guard let legs = idle[target] else { continue }
            let kept = legs.filter { leg in
                if now < leg.idleSince + idleLimit, !leg.stream.channel.peerEnded, leg.isReady {
                    return true
                }
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

extension Fields {
    var asksToKeepAlive: Bool { contains(.connection, token: "keep-alive") }

    /// Whether a credential or a challenge is of a scheme that authenticates the connection and not
    /// the request.
    var bindsConnection: Bool {
        for slice in slices {
            switch slice.known {
            case .authorization, .proxyAuthorization, .wwwAuthenticate, .proxyAuthenticate:
                // Several challenges may stand in one field (RFC 9110 §11.6.1).
                let schemes = value(slice).split(separator: 0x2C).map { element in
                    element.trimmingWhitespace.prefix { $0 != 0x20 }
                }
                for scheme in schemes
                where scheme.equalsIgnoringCase("ntlm") || scheme.equalsIgnoringCase("negotiate") {
                    return true
                }
            default: continue
            }
        }
        return false
    }
}
