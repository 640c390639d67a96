internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Transport

/// One exchange with an origin, in whatever version of HTTP it speaks.
///
/// The head goes first; then content may go while heads and content come back. One task may send
/// while another receives.
protocol OriginExchange: AnyObject, Sendable {
    /// Whether the connection had served another exchange before, and may have died since.
    var isOnUsedConnection: Bool { get }
    var version: HTTPVersion { get }
    /// The exchange itself if it has a connection of HTTP/1, whose content a client of HTTP/1 takes
    /// as it comes.
    var http1: HTTP1OriginExchange? { get }
    /// Whether it is known not to speak other protocols on its streams.
    var refusesUpgrades: Bool { get }

    /// - Parameter content: what of the content goes along with the head; it is consumed.
    func send(
        _ request: OutgoingRequest, with content: ByteBuffer?, endsRequest: Bool
    ) async throws(RelayFailure)
    /// Sends all that the buffer holds, and consumes it.
    func sendContent(_ buffer: ByteBuffer) async throws(RelayFailure)
    func endContent(trailers: Fields) async throws(RelayFailure)

    /// The next head, interim or final.
    func nextHead(deadline: UInt64) async throws(RelayFailure) -> ResponseHead
    /// Whether the final head agrees to speak another protocol: by a 101 (RFC 9110 §7.8), or by a
    /// 2xx to CONNECT.
    var isSwitching: Bool { get }
    /// Whether it is known that no content comes behind the final head.
    var hasNoContent: Bool { get }
    /// Whether content, or its end, can be read at once.
    var isContentWaiting: Bool { get }
    /// Reads content into the buffer's room; 0 at its end.
    func readContent(into buffer: ByteBuffer, deadline: UInt64) async throws(RelayFailure) -> Int
    /// The first bytes of a head that broke the protocol, where there are some: the evidence.
    var brokenHead: [UInt8] { get }
    /// A final head that was read and cannot be passed on, because its framing breaks the protocol.
    var refusedHead: ResponseHead? { get }
    /// What stood behind the content, once it has been read.
    var trailers: Fields { get }
    /// Whether the request may go on behind the whole response.
    var readsOn: Bool { get }
    /// Calls `action` when the origin goes, or asks for no more; `nil` stops listening.
    func onLeaving(_ action: (() -> Void)?)

    /// What goes on once another protocol was agreed on, and what was read of it already.
    func tunnel() -> (stream: any TunnelStream, late: ByteBuffer?)

    /// Stops whoever waits to send: the response is whole, or the client has left.
    func stopSending()
    func stopReceiving()
    /// Gives up waiting at `deadline`, if that is earlier than planned.
    func hurry(until deadline: UInt64)
    /// Ends the exchange.
    ///
    /// - Parameter isWhole: whether both messages have passed to their ends.
    func finish(isWhole: Bool)
}

extension OriginExchange {
    var http1: HTTP1OriginExchange? { nil }
    var brokenHead: [UInt8] { [] }
    var refusedHead: ResponseHead? { nil }
    var readsOn: Bool { false }
    func onLeaving(_ action: (() -> Void)?) {}
}

extension ResponseHead {
    /// Counts an interim response, of which an origin may send so many.
    func count(in allowance: inout InterimAllowance) throws(RelayFailure) {
        do throws(HTTP1Violation) {
            try allowance.take(self)
        } catch {
            throw .originViolation(error)
        }
    }
}
