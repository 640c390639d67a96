internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Sockets
internal import Traffic
internal import Transport

/// The client's side of one exchange, in whatever version of HTTP it speaks.
///
/// It reads the request's content and writes the response; what is done with both is decided by the
/// `ExchangeTask`. One task may read while another writes.
protocol ExchangeClient: AnyObject, Sendable {
    var version: HTTPVersion { get }
    /// Whether the exchange has the client's connection to itself.
    var ownsConnection: Bool { get }
    /// What opened the exchange's stream; `nil` in HTTP/1.
    var openingHead: HTTP2Head? { get }
    /// Why nobody waits for an answer any more; `nil` while somebody may.
    var lost: RelayFailure? { get }

    // MARK: The request

    func framing(of head: RequestHead) throws(HTTP1Violation) -> BodyFraming
    /// Begins to read the content, for the first time or for another origin.
    func beginContent(_ framing: BodyFraming, for origin: any OriginExchange)
    /// Whether the whole content is there, and may be sent before an answer is waited for.
    func hasWholeContent(_ request: OutgoingRequest) -> Bool
    /// Records content and reads it into the buffer's room, as the origin takes it; 0 at the end.
    func readContent(
        into buffer: ByteBuffer, of exchange: ExchangeTask
    ) async throws(RelayFailure) -> Int
    /// Whether nothing is left of the content.
    var hasReadContent: Bool { get }
    /// What stood behind the content, once it has been read.
    var requestTrailers: Fields { get }
    /// Makes whoever reads the content go on.
    ///
    /// - Parameter isAnswered: whether nobody will read the rest; another origin may else.
    func stopRequest(isAnswered: Bool)
    /// Ends that, where the content is not all that the client's connection brings.
    func resumeRequest()
    /// Waits a short while only for what is left of the content, as the client has its response and
    /// may have been told that its connection ends (RFC 9112 §9.6).
    func hurryContent()

    /// The client broke off what was relayed to it, and its connection may have gone with it.
    func noteBreak()
    /// Tells the origin that is waited for if the client has ended its direction.
    func hurryIfEnded()

    // MARK: The response

    func inform(_ head: ResponseHead) async throws(RelayFailure)
    /// Sends the final head, or holds it back until there is content to go with it. Sends and records
    /// the content as well if it can go on in the form in which the origin sends it, without a copy.
    ///
    /// - Parameter isEmpty: whether no content follows.
    /// - Returns: whether all has been sent.
    func begin(
        _ head: ResponseHead, from origin: any OriginExchange, isEmpty: Bool,
        of exchange: ExchangeTask
    ) async throws(RelayFailure) -> Bool
    /// Whether something waits to be sent with what follows.
    var holdsBack: Bool { get }
    func flush() async throws(RelayFailure)
    /// Sends all that the buffer holds, and consumes it.
    func sendContent(_ buffer: ByteBuffer) async throws(RelayFailure)
    func endContent(trailers: Fields) async throws(RelayFailure)

    // MARK: Tunnels

    /// Passes on that another protocol is agreed on.
    ///
    /// - Returns: what goes on, and what was read of it already.
    func switchOver(
        _ head: ResponseHead
    ) async throws(RelayFailure) -> (stream: any TunnelStream, early: ByteBuffer?)
    /// Goes on with a connection that itself changes over, if it does.
    func changeOver(
        _ head: ResponseHead, with origin: any OriginExchange, of exchange: ExchangeTask
    ) async throws(RelayFailure) -> Bool

    // MARK: Ends

    /// Sends an answer of the tool's.
    func send(
        _ answer: ToolResponse, _ message: (head: [UInt8], content: [UInt8]),
        of exchange: ExchangeTask
    ) async
    /// How the client has left, if that is why the exchange failed.
    func departure(
        behind failure: RelayFailure, of exchange: ExchangeTask
    ) -> ClientDeparture?
    /// Ends what comes to no whole response.
    ///
    /// - Throws: why the client's connection ends with it.
    func end(_ end: ExchangeEnd) throws(ConnectionEnd)
}

/// What only one version needs.
extension ExchangeClient {
    var openingHead: HTTP2Head? { nil }
    var lost: RelayFailure? { nil }
    func resumeRequest() {}
    func hurryIfEnded() {}
    var holdsBack: Bool { false }
    func flush() async throws(RelayFailure) {}
    func changeOver(
        _ head: ResponseHead, with origin: any OriginExchange, of exchange: ExchangeTask
    ) async throws(RelayFailure) -> Bool { false }
}

/// How a client has left before the end of its exchange.
enum ClientDeparture {
    /// It has the whole response.
    case satisfied
    case left(RelayFailure)
}

/// Why an exchange comes to no whole response.
enum ExchangeEnd {
    /// The proxy is shut down.
    case cut
    /// The request broke the protocol, and was answered.
    case refused(HTTP1Violation)
    /// The client brings or takes nothing more.
    case client(RelayFailure)
    /// The client broke its request, whose whole response has passed.
    case answered(RelayFailure)
    /// The origin failed, and no answer can stand for that.
    case origin(RelayFailure, String)
    /// The origin has surely not processed the request, and the client may ask again (RFC 9113 §8.7).
    case unprocessed
    /// The origin left before it was asked.
    case lostOrigin(String)
}

/// Where the exchanges of one client's connection get their origins.
protocol OriginSource: AnyObject, Sendable {
    var task: ConnectionTask { get }
    var entry: Entry { get }
    /// Why the only origin cannot serve; every request is answered with it.
    var originFailure: OriginFailure? { get }
    /// An exchange over a connection that is at hand; `nil` if one has to be looked for.
    func originAtHand(for request: OutgoingRequest) -> (any OriginExchange)?
    func origin(for request: OutgoingRequest) async throws(OriginFailure) -> any OriginExchange
    /// Whether the connection to the origin that is this client's own came to its end: another in
    /// its place would hide that from the client, who asks again on a new one.
    func hasLostOrigin(of request: OutgoingRequest) -> Bool
    /// Ends an exchange that failed.
    func giveUp(_ origin: any OriginExchange, after failure: RelayFailure)
    /// Takes a connection of HTTP/1 back.
    func takeBack(_ leg: OriginLeg, isReusable: Bool)
}
