package import Base
package import Proxy

/// A probe's server that tells what it saw.
package protocol AuditMachine: ProbeMachine {
    /// What is known by now; whole once the end was noted.
    var observation: ProbeObservation { get }
    /// Where the client was sent for what the probe is about, which is then a connection of its own;
    /// `nil` for most probes.
    var followUp: FollowUpPlan? { get }
    /// What kept the probe from being presented; `nil` for nothing.
    var failure: Failure? { get }
}

extension AuditMachine {
    package var followUp: FollowUpPlan? { nil }
    package var failure: Failure? { nil }
}

/// A connection in cleartext that a redirection may bring.
package struct FollowUpPlan: Sendable, Equatable {
    /// As in the URL that the client was sent to.
    package let host: String
    package let port: UInt16
    /// Of the URL; no other request has it.
    package let path: String
    /// The value of the cookie that was set for TLS only; `nil` if none was.
    package let secureCookie: String?
    /// Whether coming is no fault, but only bringing a secret along.
    package let asksForSecret: Bool
}

/// What all servers of probes are told.
package struct ProbeMachineConfiguration: Sendable {
    /// Whom the client wants to speak to, as it is named in redirections and greetings.
    package var host: String
    /// In no other answer; seen on a command's output, it proves that the answer was read.
    package var token: String
    package var connection: Int64 = 0
    /// Where the client came to.
    package var port: UInt16 = 0
    /// How long a client may be silent, in milliseconds.
    ///
    /// The longest that a client was seen to take to judge a certificate is 8 ms.
    package var patience: UInt64 = 3000
    /// How a server of this port speaks first; `nil` for one that waits.
    package var greeting: ProbeGreeting?
    /// What is spoken at first where TLS comes later; `nil` for TLS from the first byte on.
    package var upgrade: UpgradeProtocol?
    /// Whether what the client offers is kept: it is judged once, of the sound server.
    package var keepsOffer = false
    /// 80 bytes that the connections of one probe share, for `resume-after-refusal`.
    package var ticketKey: [UInt8] = []
    /// Milliseconds of a clock that never goes back.
    package var now: @Sendable () -> UInt64

    package init(host: String, token: String, now: @escaping @Sendable () -> UInt64) {
        self.host = host
        self.token = token
        self.now = now
    }
}
