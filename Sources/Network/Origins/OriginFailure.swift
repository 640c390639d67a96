package import Base
package import HTTPCodecs
package import Sockets
package import Traffic
package import Transport

/// An origin that could not be reached, with what is known of the attempt.
///
/// A class, because it stands on the stack of every connection and hardly ever happens.
package final class OriginFailure: Error, Sendable {
    package let failure: Failure
    package let outcome: ConnectionRecord.Outcome
    package let tls: TLSRecord?
    package let address: SocketAddress?

    package init(
        failure: Failure, outcome: ConnectionRecord.Outcome, tls: TLSRecord? = nil,
        address: SocketAddress? = nil
    ) {
        self.failure = failure
        self.outcome = outcome
        self.tls = tls
        self.address = address
    }
}

/// Why a connection to an origin brings nothing more.
package enum OriginReadFailure: Error {
    case stream(StreamFailure)
    /// The origin ended where more was due.
    case ended
    case violation(HTTP1Violation)
}
