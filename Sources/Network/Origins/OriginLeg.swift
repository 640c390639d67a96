package import Base
package import HTTP2
package import HTTPCodecs
package import HTTPModel
package import Sockets
internal import TLS
package import Traffic
package import Transport

/// A connection to an origin.
///
/// `@unchecked Sendable`: the tasks that use it run on its loop's executor.
package final class OriginLeg: @unchecked Sendable {
    package let target: OriginTarget
    package let serverName: String?
    package let stream: any ByteStream
    /// What was offered when it was opened; others may get it whose offer leads to the same.
    package let offer: OriginOffer
    /// The streams of HTTP/2 on it; `nil` for a connection of HTTP/1 or of anything else.
    package var http2: HTTP2Connection?
    package let address: SocketAddress
    /// Bytes of the origin that were read and not yet relayed.
    package var unread: ByteBuffer?
    package var exchangeCount = 0
    /// The start of a head that broke the protocol: the evidence for the record.
    package private(set) var brokenHead: [UInt8] = []
    /// Whether an authentication is bound to the connection, so that no other client may have it.
    package var isPersonal = false
    /// Whether its last response asked for a step of such an authentication.
    package private(set) var isChallenged = false
    /// Whether its last request held a credential of such an authentication.
    private var hasCredential = false
    /// Whose clients may be led over it.
    package var reach = OriginReach.everywhere
    /// The proxy at its other end, which wants whole URLs; `nil` if the origin is there.
    package var forwarder: UpstreamProxy?
    /// Whether it was opened for one client alone, and ends with it.
    package var isOwned = false
    /// Whether our direction has ended, as the client's did.
    package var hasFinished = false
    /// Where its responses to the client that has it now were not as they have to be, and were taken.
    package var leniency: HeadLeniency = []
    /// When it was last put aside, in milliseconds of the loop's clock.
    package var idleSince: UInt64 = 0
    /// What had passed when the client that has it now got it.
    private var before = ByteCount()
    /// Facts of its handshake; `nil` without TLS.
    package private(set) var tls: TLSRecord?

    package init(
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

    /// Notes an authentication that is bound to the connection (RFC 4559 §6, NTLM) in a request that
    /// goes over it: such a connection is never given to another client.
    package func notePersonal(_ request: RequestHead) {
        isChallenged = false
        hasCredential = request.fields.bindsConnection
        if hasCredential { isPersonal = true }
    }

    /// Notes the same of a response.
    package func notePersonal(_ response: ResponseHead) {
        let asks = response.status == 401 || response.status == 407
        guard asks || !isPersonal, response.fields.bindsConnection else { return }
        isPersonal = true
        // A scheme by its name alone, told to who has logged in, asks for another user.
        isChallenged = asks && (!hasCredential || response.fields.bindsConnection(withToken: true))
    }

    /// Whether it asked for a client certificate in the handshake.
    package var wantsCertificate: Bool { (stream as? TLSStream)?.session.wantsCertificate ?? false }

    /// Why the origin's certificate does not verify; `nil` if it does, or there is no TLS.
    package var verifyError: String? { tls?.verifyError }

    /// Whether HTTP/2 was agreed on, by ALPN or by knowing it before.
    package var speaksHTTP2: Bool { target.isSecure ? tls?.alpn == "h2" : offer == .plainHTTP2 }

    /// What has passed since the last call.
    package func takeBytes() -> ByteCount {
        let channel = stream.channel
        let now = ByteCount(received: channel.bytesReceived, sent: channel.bytesSent)
        defer { before = now }
        return ByteCount(received: now.received - before.received, sent: now.sent - before.sent)
    }

    /// Adds what TLS has brought since the handshake.
    package func addLateFacts(to record: inout TLSRecord?) {
        guard let session = (stream as? TLSStream)?.session else { return }
        record?.noteAlerts(of: session)
        record?.keyLog += session.takeKeyLog()
    }

    /// Takes what was noted of its responses: the next client that gets it has nothing of it.
    package func takeLeniency() -> HeadLeniency {
        defer { leniency = [] }
        return leniency
    }

    /// Whether the next request may go over it: its origin is there, and has said nothing that a
    /// request did not ask for. One that was never used may hold TLS tickets.
    package var isReady: Bool {
        if let http2 { return !http2.isGoingAway && http2.end == nil }
        let channel = stream.channel
        guard !channel.peerEnded, !channel.isBroken, !channel.isClosed, !hasFinished else {
            return false
        }
        guard exchangeCount > 0 else { return true }
        return unread == nil && !stream.holdsBytes && (!channel.isReadableNow || channel.isQuiet)
    }

    /// Reads more of the origin, holding a buffer only once there is something.
    package func fill() async throws(OriginReadFailure) {
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
            throw .stream(error)
        }
        if count == 0 {
            releaseUnread()
            throw .ended
        }
    }

    /// Reads the next head of HTTP/1; `readDeadline` has to be set.
    package func readHead(
        limits: HeadLimits, longHeads: LongHeadLedger
    ) async throws(OriginReadFailure) -> ResponseHead {
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
                    throw .violation(error)
                }
                scannedCount = unread.count
                if unread.count == unread.capacity {
                    long = LongHead(limit: limits.blockLimit, in: longHeads)
                    continue
                }
            }
            let early = unread.map { $0.copy(0..<min($0.count, Self.brokenHeadLimit)) } ?? []
            do throws(OriginReadFailure) {
                try await fill()
            } catch .ended where !early.isEmpty && !early.starts(with: Self.version) {
                // It has said what it speaks, and that is not HTTP.
                brokenHead = early
                throw .violation(.invalidStatusLine)
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

    package func releaseUnread() {
        guard let unread else { return }
        self.unread = nil
        stream.loop.buffers.give(unread)
    }

    /// Whether nothing came in since it was put aside.
    package var isQuiet: Bool { http2 == nil ? stream.channel.isQuiet : isReady }

    package func close() {
        releaseUnread()
        // The task that reads for its streams closes it, once its goodbye is sent.
        if let http2 { http2.drain() } else { stream.close() }
    }
}
