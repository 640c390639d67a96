package import Base
package import HTTPClient
package import HTTPModel
package import Origins

/// The way to origins, as transfers use it.
package protocol TransferNetwork: AnyObject, Sendable {
    /// Sends a request and gives its answer to its reception.
    ///
    /// Errors: those of `HTTPClient.send`, `request-malformed`.
    func send(_ request: NetworkRequest) async throws(Failure) -> NetworkAnswer

    /// Whether what is sent to a place does not leave this machine, by whatever proxies.
    func staysHere(_ location: OriginLocation) -> Bool
}

/// What is sent.
package struct NetworkRequest {
    package var method = "GET"
    package let location: OriginLocation
    package var fields: [TransferField] = []
    package var content = Content.none
    /// Takes the answer while it comes.
    package let reception: any ClientReception
    /// Ends it early.
    package let stop: ClientStop
    /// The path of certificates in PEM that are trusted besides the system's; `nil` for none.
    package var authorities: String?
    /// SHA-256 of public keys, one of which has to be in the origin's chain; none for any.
    package var pins: [[UInt8]] = []

    package enum Content {
        case none
        case bytes([UInt8])
        /// Of so many bytes; reads what stands from an offset on, one piece at a time, and no bytes at
        /// the end.
        case pieces(size: Int64, (_ offset: Int64) -> Result<[UInt8], Failure>)
    }

    package init(_ location: OriginLocation, to reception: any ClientReception, stop: ClientStop) {
        self.location = location
        self.reception = reception
        self.stop = stop
    }
}

/// How an answer ended that was taken to its end, or declined.
package struct NetworkAnswer: Sendable {
    package let head: ResponseHead
    package let trailers: Fields
    /// Whether the reception wanted no more.
    package let isDeclined: Bool
    /// Whether nothing but the end of the connection ended the content (RFC 9112 §6.3).
    package let endedByClose: Bool

    package init(
        head: ResponseHead, trailers: Fields, isDeclined: Bool, endedByClose: Bool
    ) {
        self.head = head
        self.trailers = trailers
        self.isDeclined = isDeclined
        self.endedByClose = endedByClose
    }
}
