internal import Base
internal import HTTPModel

/// One exchange on what carries it: a connection of HTTP/1, or a stream of HTTP/2.
protocol ExchangeStream: RequestBodySource {
    var version: HTTPVersion { get }
    var pause: ExchangePause { get }
    /// The request's content as the route sees it.
    var body: RequestBody { get }
    /// Whether another request may follow the response to this one.
    var keepsAlive: Bool { get }
    /// Where content of the response is put ahead of `flush`, behind which it has room.
    var content: ByteBuffer { get }

    /// Begins the final response; what it says may wait for the first content.
    ///
    /// - Parameter pace: of the head's bytes; `nil` for at once.
    func begin(_ plan: ResponsePlan, pace: Pace?) async throws(ServerEnd)
    /// Sends what `content` holds.
    func flush() async throws(ServerEnd)
    /// Ends the response behind its content, and waits until it has gone out.
    ///
    /// - Parameter goodbye: what is told right behind that end.
    func end(trailers: [ResponseField], goodbye: Delivery.GoAway?) async throws(ServerEnd)
    /// Waits until all that was flushed has left this end, so that a cut behind it takes nothing
    /// with it.
    func settle() async throws(ServerEnd)
    /// Tells the client to open no new streams; nothing in HTTP/1.
    func goAway(_ goodbye: Delivery.GoAway)
    /// Keeps what is told if the client breaks off the connection behind a response that went out
    /// whole, or was cut on purpose: its last bytes may then lie in no more than a socket.
    func watch(_ sent: SentResponse, _ onEnd: @escaping (SentResponse) -> Void)
    /// Bytes of the connection that the client has not acknowledged; `nil` if nobody can tell.
    var unacknowledged: Int? { get }
}

extension ExchangeStream {
    func waitForWake(milliseconds: UInt64?) async -> Bool {
        await pause.waitForWake(milliseconds: milliseconds)
    }

    var waker: @Sendable () -> Void { pause.waker }
}
