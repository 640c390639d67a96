internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Sockets
internal import Transport

/// An exchange over a connection of HTTP/1, which it has to itself.
///
/// `@unchecked Sendable`: the tasks that use it run on its loop's executor.
final class HTTP1OriginExchange: OriginExchange, @unchecked Sendable {
    let leg: OriginLeg
    let isOnUsedConnection: Bool
    let protocolName = "HTTP/1.1"
    let agreesBySwitching = true
    let refusesUpgrades = false
    private let worker: ProxyWorker
    private let giveBack: (OriginLeg, _ isReusable: Bool) -> Void
    private var isChunkedUp = false
    /// What was offered to the origin to change over to.
    private var offer = UpgradeOffer.none
    private var isRequestWhole = false
    private var body: BodyReader?
    private var framing = BodyFraming.none
    private var keepsAlive = false
    private(set) var trailers = Fields.none
    private var isFinished = false

    /// - Parameter giveBack: takes the connection when the exchange has ended.
    init(
        _ leg: OriginLeg, worker: ProxyWorker,
        giveBack: @escaping (OriginLeg, _ isReusable: Bool) -> Void
    ) {
        self.leg = leg
        self.worker = worker
        self.giveBack = giveBack
        isOnUsedConnection = leg.exchangeCount > 0
        leg.exchangeCount += 1
        leg.stream.channel.resumeWaiting()
    }

    // MARK: The request

    func send(_ request: OutgoingRequest, endsRequest: Bool) async throws(RelayFailure) {
        isRequestWhole = endsRequest || request.upgrade != nil
        leg.notePersonal(request.head.fields)
        var forwarding = Forwarding(
            keepsProxyFields: request.keepsProxyFields, host: request.host, joinsCookies: true)
        if !endsRequest, !request.head.fields.contains(.contentLength) {
            isChunkedUp = true
            forwarding.framing = .chunked
        }
        if let upgrade = request.upgrade {
            forwarding.adding = upgrade.fields
            forwarding.dropping = [":protocol", "sec-websocket-key"]
            forwarding.framing = .asCame
            isChunkedUp = false
            offer = UpgradeOffer(upgrade.protocolName)
        }
        var bytes: [UInt8] = []
        HeadWriter.writeRequest(
            request.head, method: request.upgrade.map { _ in [UInt8]("GET".utf8)[...] },
            target: request.target.map { $0[...] }, forwarding: forwarding, into: &bytes)
        try await write(bytes)
    }

    private func write(_ bytes: [UInt8]) async throws(RelayFailure) {
        let out = worker.loop.buffers.take()
        defer { worker.loop.buffers.give(out) }
        var written = 0
        while written < bytes.count {
            let count = min(bytes.count - written, out.room)
            out.append(bytes.span.extracting(written..<written + count))
            written += count
            try await write(out)
        }
    }

    private func write(_ buffer: ByteBuffer) async throws(RelayFailure) {
        leg.stream.writeDeadline = worker.loop.now + worker.plan.limits.bodyTimeout
        do throws(StreamFailure) {
            try await leg.stream.write(buffer)
        } catch {
            throw .origin(error)
        }
    }

    func sendContent(_ buffer: ByteBuffer) async throws(RelayFailure) {
        guard isChunkedUp else { return try await write(buffer) }
        guard !buffer.isEmpty else { return }
        let out = worker.loop.buffers.take()
        defer { worker.loop.buffers.give(out) }
        while !buffer.isEmpty {
            let count = min(buffer.count, out.room - 16)
            out.append([UInt8]((String(count, radix: 16) + "\r\n").utf8))
            out.append(buffer.readable.extracting(..<count))
            out.append("\r\n")
            buffer.consume(count)
            try await write(out)
        }
    }

    func endContent(trailers: Fields) async throws(RelayFailure) {
        defer { isRequestWhole = true }
        guard isChunkedUp else { return }
        let passing = TrailerFields.passing(trailers).raw
        try await write([UInt8]("0\r\n".utf8) + (passing.isEmpty ? [13, 10] : passing))
    }

    // MARK: The response

    func nextHead(
        method: KnownMethod, deadline: UInt64
    ) async throws(RelayFailure) -> ResponseHead {
        leg.stream.readDeadline = deadline
        let head: ResponseHead
        do throws(OriginReadFailure) {
            head = try await leg.readHead(
                limits: worker.plan.limits.responseHead, longHeads: worker.longHeads)
        } catch {
            throw RelayFailure(error)
        }
        do throws(HTTP1Violation) {
            framing = try MessageFraming.ofResponse(
                head, toMethod: method, offer: offer, isRequestWhole: isRequestWhole)
        } catch {
            throw .originViolation(error)
        }
        if !head.isInterim {
            leg.notePersonal(head.fields)
            body = BodyReader(framing, trailerLimits: .response)
            keepsAlive =
                head.keepsConnection && framing != .untilClose && framing != .tunnel
        }
        return head
    }

    var brokenHead: [UInt8] { leg.brokenHead }

    var hasNoContent: Bool { body?.isComplete ?? true }

    var isContentWaiting: Bool { leg.unread != nil || hasNoContent }

    func readContent(
        into buffer: ByteBuffer, deadline: UInt64
    ) async throws(RelayFailure) -> Int {
        while body.map({ !$0.isComplete }) ?? false {
            if leg.unread == nil {
                leg.stream.readDeadline = deadline
                do throws(OriginReadFailure) {
                    try await leg.fill()
                } catch {
                    guard case .ended = error, framing == .untilClose else {
                        throw RelayFailure(error)
                    }
                    guard leg.stream.endedInOrder else { throw .originTruncated }
                    return 0
                }
            }
            let count = try takeContent(into: buffer)
            if count > 0 { return count }
        }
        return 0
    }

    /// Takes content out of what has been read; a head of chunks may hold none.
    private func takeContent(into buffer: ByteBuffer) throws(RelayFailure) -> Int {
        guard let unread = leg.unread else { throw .originEnded }
        let before = buffer.count
        let bytes = unread.readable
        do throws(HTTP1Violation) {
            let room = min(bytes.count, buffer.room)
            let consumed = try body?.consume(bytes.extracting(..<room)) { range in
                buffer.append(bytes.extracting(range))
            }
            unread.consume(consumed ?? 0)
        } catch {
            throw .originViolation(error)
        }
        if unread.isEmpty { leg.releaseUnread() }
        if let body, body.isComplete {
            trailers = body.trailers
            leg.leniency.formUnion(body.leniency)
        }
        return buffer.count - before
    }

    // MARK: Ending

    func tunnel() -> (stream: any TunnelStream, late: ByteBuffer?) {
        (leg.stream, leg.unread.take())
    }

    func stopSending() { leg.stream.channel.interrupt() }
    func stopReceiving() { leg.stream.channel.interrupt() }
    func hurry(until deadline: UInt64) { leg.stream.channel.hurryReading(until: deadline) }

    func finish(isWhole: Bool) {
        guard !isFinished else { return }
        isFinished = true
        giveBack(leg, isWhole && keepsAlive && leg.unread == nil && (body?.isComplete ?? false))
    }
}
