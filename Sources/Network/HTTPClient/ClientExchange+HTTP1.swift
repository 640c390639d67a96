internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

extension ClientExchange {
    /// Sends the request over a connection of HTTP/1, and reads its answer.
    func run(over leg: ClientLeg) async throws(Failure) -> ClientResponse {
        request.stop?.interrupt = { leg.stream.channel.interrupt() }
        defer { request.stop?.interrupt = nil }
        if request.reception != nil, !request.endsWithHead {
            return try await runBothWays(over: leg)
        }
        var sendingFailure: StreamFailure?
        do throws(StreamFailure) {
            try await leg.write(
                leg.origin.sentHead(request.head), timeout: configuration.writeTimeout)
            try await sendContent(over: leg)
        } catch {
            // The origin may have answered before it broke off.
            sendingFailure = error
        }
        if let contentFailure { throw contentFailure }
        let head: ResponseHead
        do throws(Failure) {
            head = try await finalHead(over: leg)
        } catch {
            // What it said on its way out tells more than that it has gone.
            if error.code == OriginFailureText.certificateCode { throw error }
            throw sendingFailure.map(leg.failure) ?? error
        }
        let answer = try await content(of: head, over: leg)
        keepsAlive = keepsAlive && sendingFailure == nil
        return answer
    }

    /// Reads the answer while the content is sent: whoever takes it hears interim responses when they
    /// come, and a content that is refused is not sent to its end (RFC 9112 §9.5).
    private func runBothWays(over leg: ClientLeg) async throws(Failure) -> ClientResponse {
        let sending = ContentSending(self, over: leg)
        async let sent: Void = sending.run()
        do throws(Failure) {
            let head = try await finalHead(over: leg) { sending.isDone }
            if isDeclined || head.status >= 300 { sending.stop() }
            let answer = try await content(of: head, over: leg)
            // What does not take the rest of the content would hold the sender up.
            if sending.isStopped, !sending.isDone { leg.stream.close() }
            await sent
            if let contentFailure { throw contentFailure }
            keepsAlive = keepsAlive && sending.isWhole
            return answer
        } catch {
            // Only what failed by itself tells more than this does.
            let failure = sending.failure
            sending.stop()
            leg.stream.close()
            await sent
            if let contentFailure { throw contentFailure }
            if error.code == OriginFailureText.certificateCode { throw error }
            throw failure.map(leg.failure) ?? error
        }
    }

    /// - Parameter isOver: whether no more is to be sent.
    fileprivate func sendContent(
        over leg: ClientLeg, until isOver: () -> Bool = { false }
    ) async throws(StreamFailure) {
        let timeout = configuration.writeTimeout
        while !isOver() {
            let piece = nextPiece()
            guard !piece.isEmpty else { break }
            if request.isChunked {
                let line = [UInt8]((String(piece.count, radix: 16) + "\r\n").utf8)
                try await leg.write(line + piece + [0x0D, 0x0A], timeout: timeout)
            } else {
                try await leg.write(piece, timeout: timeout)
            }
            await recorder.waitForRoom()
        }
        guard request.isChunked, contentFailure == nil, !isOver() else { return }
        let trailers = request.trailers.slices.isEmpty ? [0x0D, 0x0A] : request.trailers.raw
        try await leg.write([UInt8]("0\r\n".utf8) + trailers, timeout: timeout)
        recording.noteTrailers(request.trailers.raw, .request)
    }

    /// - Parameter isSent: whether the request is on its way; its answer is not due before.
    func finalHead(
        over leg: ClientLeg, isSent: () -> Bool = { true }
    ) async throws(Failure) -> ResponseHead {
        while true {
            let head = try await leg.readHead(
                timeout: isSent() ? configuration.readTimeout : ClientLeg.noTimeout,
                longHeads: longHeads)
            if try take(head) { return head }
        }
    }

    func content(
        of head: ResponseHead, over leg: ClientLeg
    ) async throws(Failure) -> ClientResponse {
        let framing: BodyFraming
        do throws(HTTP1Violation) {
            // A WebSocket is begun elsewhere; no other protocol is spoken here.
            framing = try MessageFraming.ofResponse(
                head, toMethod: request.method, offer: .none, isRequestWhole: true)
        } catch {
            throw failure("origin-violation", error.detail)
        }
        guard framing != .tunnel else { return answer(head, trailers: .none) }
        // A short content is sooner read than another connection is made.
        let isSkipped = isDeclined && framing.length <= Self.skippedLimit
        guard !isDeclined || isSkipped else { return answer(head, trailers: .none) }
        let trailers = try await leg.readContent(framing, timeout: configuration.readTimeout) {
            piece in
            take(piece)
            return await waitForRoom() || isSkipped
        }
        keepsAlive = trailers != nil && head.keepsConnection && framing != .untilClose
        return answer(head, trailers: trailers ?? .none)
    }

    /// Of a content that nobody wants, in bytes.
    private static let skippedLimit: UInt64 = 65_536
}

extension BodyFraming {
    /// In bytes; the largest number where it is not known.
    fileprivate var length: UInt64 {
        switch self {
        case .none: 0
        case .length(let length): length
        case .chunked, .untilClose, .tunnel: .max
        }
    }
}

/// Sends a request while its answer is read.
///
/// `@unchecked Sendable`: its two tasks run on its loop's executor.
private final class ContentSending: @unchecked Sendable {
    private let exchange: ClientExchange
    private let leg: ClientLeg
    private(set) var isDone = false
    private(set) var isStopped = false
    private(set) var failure: StreamFailure?

    init(_ exchange: ClientExchange, over leg: ClientLeg) {
        self.exchange = exchange
        self.leg = leg
    }

    /// Whether all of it has gone out.
    var isWhole: Bool { isDone && !isStopped && failure == nil }

    /// Sends no further piece.
    func stop() { if !isDone { isStopped = true } }

    func run() async {
        let configuration = exchange.configuration
        do throws(StreamFailure) {
            try await leg.write(
                leg.origin.sentHead(exchange.request.head), timeout: configuration.writeTimeout)
            try await exchange.sendContent(over: leg) { self.isStopped }
        } catch {
            // The origin may have answered before it broke off: the one who reads hears of it.
            failure = error
        }
        isDone = true
        let channel = leg.stream.channel
        // Nobody answers a content that ends too early.
        if exchange.contentFailure != nil { return channel.interrupt() }
        channel.hurryReading(until: channel.loop.now + configuration.readTimeout)
    }
}
