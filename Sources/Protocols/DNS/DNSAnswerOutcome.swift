/// What a query was answered with, and what its being asked tells.
package struct DNSAnswerOutcome: Sendable, Equatable {
    package enum Verdict: Sendable, Equatable {
        /// An address of the table was given.
        case address([UInt8])
        /// An IPv6 address was asked for, and there are none.
        case noIPv6
        /// An HTTPS or SVCB record was asked for: the client would have learnt of HTTP/3, or of a
        /// key to encrypt its hello with, and was told that there is none.
        case noService
        /// This machine was asked for.
        case localhost
        /// One of our addresses was asked for its name.
        case name(String)
        /// The name is what a browser asks for to learn whether it may ask others than the system.
        case encryptedDNSDeclined
        /// Nothing of this type is known.
        case nothing
        /// There is no such name.
        case noSuchName
        /// A query that nobody answers here: of another operation, class or version of EDNS.
        case refused
        case malformed(DNSViolation)
        /// The header is sound, but there is not just one question.
        case notOneQuestion
    }

    package let verdict: Verdict
    /// The first question; after a violation too, if it was read before it.
    package let question: DNSQuestion?
    /// What to send.
    package let response: DNSMessage
    /// The longest message that the asker takes, in bytes.
    package let byteLimit: Int

    /// What to send in bytes; in a stream its length is to go before it.
    package var bytes: [UInt8] { DNSMessageWriter.write(response, byteLimit: byteLimit) }
}
