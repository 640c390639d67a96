internal import Base
internal import HTTPCodecs
internal import HTTPModel

/// One exchange with an origin, in whatever version of HTTP it speaks.
///
/// The head goes first; then content may go while heads and content come back. One task may send
/// while another receives.
protocol OriginExchange: AnyObject, Sendable {
    /// Whether the connection had served another exchange before, and may have died since.
    var isOnUsedConnection: Bool { get }
    /// As it is recorded, such as `HTTP/1.1`.
    var protocolName: String { get }
    var leg: OriginLeg { get }

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
    /// Reads content into the buffer's room; 0 at its end.
    func readContent(into buffer: ByteBuffer, deadline: UInt64) async throws(RelayFailure) -> Int
    /// What stood behind the content, once it has been read.
    var trailers: Fields { get }

    /// Stops whoever waits to send: the response is whole, or the client has left.
    func stopSending()
    func stopReceiving()
    /// Ends the exchange.
    ///
    /// - Parameter isWhole: whether both messages have passed to their ends.
    func finish(isWhole: Bool)
}
