package import HTTPModel
internal import Origins
internal import Sockets

/// Answers in the place of origins: with one, and unless it asks for it, no origin is dialled and
/// no name is resolved.
package protocol OriginResponder: Interceptor {
    /// Whether it may have an answer for a host, the same at each call; where it has not, the next
    /// interceptor is asked.
    func answers(for host: String) -> Bool

    /// Whether what it has no answer for goes to its origin.
    var fallsBack: Bool { get }

    /// What a client may choose from by ALPN that offers `names`, in order of preference.
    func protocols(of host: String, _ port: UInt16, offering names: [String]) -> [String]

    /// Begins to answer a request; `nil` for one that goes to its origin.
    func respond(to request: ResponderRequest) -> (any ResponderExchange)?

    /// What an origin says that speaks no HTTP; `nil` if that is not known.
    func dialogue(with host: String, _ port: UInt16) -> (any ResponderDialogue)?

    /// Takes note of a client that spoke to an origin whose dialogue is not known.
    func noteUnanswered(_ host: String, _ port: UInt16)
}

extension OriginResponder {
    package func answers(for host: String) -> Bool { true }
}

/// A request as a responder gets it, before its content.
package struct ResponderRequest: Sendable {
    package let head: RequestHead
    /// Where it goes.
    package let isSecure: Bool
    /// As `Host` is written: without the scheme's standard port.
    package let authority: String
    /// The path with the query.
    package let target: [UInt8]
    /// Whether it asks to speak a WebSocket.
    package let opensWebSocket: Bool
    /// How the client has reached the proxy, in a request to that itself.
    var place: (address: SocketAddress, listener: SocketAddress)?
}

/// The answer to one request, without a socket: the request's content goes in, the response comes
/// out.
///
/// One loop drives it.
package protocol ResponderExchange: AnyObject {
    /// Takes a piece of the request's content.
    func receive(_ content: Span<UInt8>)
    /// Takes note that the request is whole.
    func noteEnd()
    /// What comes next of the response; it is told once.
    func next() -> ResponderStep
}

/// What a responder does next. Indirect: heads are large.
package indirect enum ResponderStep {
    /// More of the request is needed.
    case needMore
    /// Nothing for so many milliseconds.
    case pause(UInt64)
    case interim(ResponseHead)
    /// The final head.
    ///
    /// - `isAll`: whether neither content nor trailers follow.
    case head(ResponseHead, isAll: Bool)
    /// A head that agrees on another protocol, and what is spoken then.
    case switching(ResponseHead, any ResponderDialogue)
    case content([UInt8])
    case end(trailers: Fields)
    /// The origin broke off here.
    case broken
    /// There is no answer.
    case miss(ResponderMiss)
}

/// Why a request has no answer, as its client is told.
package struct ResponderMiss: Sendable, Equatable {
    /// The value of the field `sallyport-miss`.
    package let field: String
    /// One line for the log and the record.
    package let detail: String
    package let contentType: String
    package let content: [UInt8]

    package init(field: String, detail: String, contentType: String, content: [UInt8]) {
        self.field = field
        self.detail = detail
        self.contentType = contentType
        self.content = content
    }
}

/// The origin's side of a stream that is no HTTP, without a socket.
///
/// One loop drives it.
package protocol ResponderDialogue: AnyObject, Sendable {
    /// Takes what the client sent.
    func receive(_ bytes: Span<UInt8>)
    /// Takes note that the client sends nothing more.
    func noteEnd()
    func next() -> DialogueStep
}

package enum DialogueStep {
    case needMore
    /// The same, and to be asked again if nothing comes for so many milliseconds.
    case needMoreWithin(UInt64)
    case pause(UInt64)
    case send([UInt8])
    /// The origin ends its direction.
    case end
}
