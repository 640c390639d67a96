internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Sockets
internal import Transport

/// An exchange on a stream of a connection of HTTP/2, which others may use as well.
///
/// `@unchecked Sendable`: the tasks that use it run on its loop's executor.
final class HTTP2OriginExchange: OriginExchange, @unchecked Sendable {
    let leg: OriginLeg
    let isOnUsedConnection: Bool
    let version = HTTPVersion.http2
    private(set) var isSwitching = false
    /// Whether a 2xx agrees to speak another protocol (RFC 8441 §4).
    private var isUpgrade = false
    var refusesUpgrades: Bool { !connection.peerSettings.allowsExtendedConnect }
    private let connection: HTTP2Connection
    private let worker: ProxyWorker
    /// Takes the connection back that the exchange has to itself; `nil` if others use it.
    private let owner: (any OriginSource)?
    private var isFinished = false
    /// Whether it has become a tunnel, whose last words are still to go out.
    private var carriesTunnel = false
    /// `nil` until the request is sent.
    private(set) var stream: HTTP2Stream?
    /// Until when the response is read at most.
    private var readLimit = UInt64.max

    /// - Parameter owner: takes the connection back, if the exchange has it to itself.
    init(
        _ leg: OriginLeg, _ connection: HTTP2Connection, worker: ProxyWorker,
        owner: (any OriginSource)? = nil
    ) {
        self.leg = leg
        self.connection = connection
        self.worker = worker
        self.owner = owner
        isOnUsedConnection = leg.exchangeCount > 0
        leg.exchangeCount += 1
    }

    /// Takes over a stream that was opened by an upgrade.
    init(_ leg: OriginLeg, _ connection: HTTP2Connection, worker: ProxyWorker, stream: HTTP2Stream)
    {
        self.leg = leg
        self.connection = connection
        self.worker = worker
        self.stream = stream
        owner = nil
        isOnUsedConnection = false
        leg.exchangeCount += 1
    }

    // MARK: The request

    func send(
        _ request: OutgoingRequest, with content: ByteBuffer?, endsRequest: Bool
    ) async throws(RelayFailure) {
        let head = request.head
        let authority = request.host?[...] ?? head.fields.first(.host) ?? []
        let upgrade = request.upgrade
        isUpgrade = upgrade != nil
        var dropping: [StaticString] = []
        if upgrade != nil { dropping += ["sec-websocket-key", "sec-websocket-accept"] }
        if !endsRequest, request.framing == .chunked || upgrade != nil {
            dropping.append("content-length")
        }
        let fields = HTTP2Fields.request(
            head, method: upgrade == nil ? nil : [UInt8]("CONNECT".utf8),
            scheme: request.origin.isSecure ? "https" : "http", authority: authority,
            target: request.target, protocolName: upgrade?.protocolName, dropping: dropping,
            keepsProxyFields: request.keepsProxyFields)
        guard !fields.isTooLarge else {
            throw .unanswered(.tooLargeHead(431, "request", head.raw.count))
        }
        if owner != nil { leg.notePersonal(head) }
        guard let stream = connection.request(fields, endsStream: endsRequest) else {
            throw .originStream(.reset(HTTP2ErrorCode.refusedStream))
        }
        self.stream = stream
        if let content { try await sendContent(content) }
    }

    func sendContent(_ buffer: ByteBuffer) async throws(RelayFailure) {
        guard let stream else { return }
        stream.writeDeadline = worker.loop.now + worker.limits.bodyTimeout
        do throws(HTTP2StreamFailure) {
            try await stream.write(buffer)
        } catch {
            throw .originStream(error)
        }
    }

    func endContent(trailers: Fields) async throws(RelayFailure) {
        stream?.end(trailers: trailers.slices.isEmpty ? nil : .trailers(trailers))
    }

    // MARK: The response

    func nextHead(deadline: UInt64) async throws(RelayFailure) -> ResponseHead {
        guard let stream else { throw .originEnded }
        stream.readDeadline = min(deadline, readLimit)
        let head: HTTP2Head?
        do throws(HTTP2StreamFailure) {
            head = try await stream.nextHead()
        } catch {
            throw .originStream(error)
        }
        guard let head = head?.responseHead() else { throw .originEnded }
        isSwitching = isUpgrade && head.status / 100 == 2
        if owner != nil, !head.isInterim { leg.notePersonal(head) }
        return head
    }

    var hasNoContent: Bool {
        guard let waiting = stream?.waitingContent else { return true }
        return waiting.isWhole && waiting.count == 0 && (stream?.trailers.slices.isEmpty ?? true)
    }

    var isContentWaiting: Bool {
        stream.map { $0.waitingContent.count > 0 || $0.waitingContent.isWhole } ?? true
    }

    func readContent(
        into buffer: ByteBuffer, deadline: UInt64
    ) async throws(RelayFailure) -> Int {
        guard let stream else { return 0 }
        stream.readDeadline = min(deadline, readLimit)
        do throws(HTTP2StreamFailure) {
            return try await stream.read(into: buffer)
        } catch {
            throw .originStream(error)
        }
    }

    var trailers: Fields { stream?.trailers ?? .none }

    var readsOn: Bool { stream.map { !$0.isClosed && !$0.isGivenUp } ?? false }

    func onLeaving(_ action: (() -> Void)?) { stream?.onRefusal = action }

    // MARK: Ending

    func tunnel() -> (stream: any TunnelStream, late: ByteBuffer?) {
        guard let stream else { preconditionFailure("no request was sent on the stream") }
        carriesTunnel = true
        return (HTTP2TunnelStream(stream), nil)
    }

    func stopSending() { stream?.stopWriting() }

    func stopReceiving() { stream?.reset(HTTP2ErrorCode.cancel) }

    func hurry(until deadline: UInt64) {
        readLimit = min(readLimit, deadline)
        if let stream { stream.readDeadline = min(stream.readDeadline, readLimit) }
    }

    func finish(isWhole: Bool) {
        guard !isFinished else { return }
        isFinished = true
        if isWhole {
            stream?.discardContent()
        } else if carriesTunnel {
            stream?.breakOff(HTTP2ErrorCode.cancel)
        } else {
            stream?.reset(HTTP2ErrorCode.cancel)
        }
        owner?.takeBack(leg, isReusable: isWhole && leg.isReady)
    }
}
