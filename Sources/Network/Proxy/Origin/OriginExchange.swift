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
    /// As it is recorded, such as `HTTP/1.1`.
    var protocolName: String { get }
    /// Whether it agrees to speak another protocol by a 101 (RFC 9110 §7.8), and not by a 2xx.
    var agreesBySwitching: Bool { get }
    /// Whether it is known not to speak other protocols on its streams.
    var refusesUpgrades: Bool { get }

    func send(_ request: OutgoingRequest, endsRequest: Bool) async throws(RelayFailure)
    /// Sends all that the buffer holds, and consumes it.
    func sendContent(_ buffer: ByteBuffer) async throws(RelayFailure)
    func endContent(trailers: Fields) async throws(RelayFailure)

    /// The next head, interim or final.
    ///
    /// - Parameter method: of the request.
    func nextHead(method: KnownMethod, deadline: UInt64) async throws(RelayFailure) -> ResponseHead
    /// Whether it is known that no content comes behind the final head.
    var hasNoContent: Bool { get }
    /// Whether content, or its end, can be read at once.
    var isContentWaiting: Bool { get }
    /// Reads content into the buffer's room; 0 at its end.
    func readContent(into buffer: ByteBuffer, deadline: UInt64) async throws(RelayFailure) -> Int
    /// The first bytes of a head that broke the protocol, where there are some: the evidence.
    var brokenHead: [UInt8] { get }
    /// What stood behind the content, once it has been read.
    var trailers: Fields { get }

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
    var brokenHead: [UInt8] { [] }
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
