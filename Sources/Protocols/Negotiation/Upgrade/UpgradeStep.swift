/// What is to be done with bytes that an `UpgradeMachine` has seen.
package struct UpgradeStep: Sendable, Equatable {
    package enum Next: Sendable, Equatable {
        /// All of the bytes go on.
        case forward
        /// The client's bytes from `forward` on may begin a ClientHello, of which too few are
        /// there to tell: five at most. Present them again with what comes behind them, or call
        /// `releaseHeld` if nothing comes.
        case needMore
        /// The client asked for TLS, and the origin has not answered yet. The client's bytes from
        /// `forward` on wait: present them again once `isAwaitingOrigin` is `false`, and read no
        /// more before.
        case hold
        /// The first `forward` bytes are the last that go on in plain, the next bytes of the
        /// client are a ClientHello, and both legs are to be upgraded. The client's bytes from
        /// there on, and those that waited, belong to its handshake, unless they are `injected`.
        case forwardThenSecure(command: String)
    }

    /// How many of the bytes go on to the other side now.
    package var forward = 0
    package var next = Next.forward
    /// What was learned from these bytes, in order.
    package var facts: [UpgradeFact] = []
    /// What the sides sent in plain behind the switch to TLS.
    package var injected: [InjectedBytes] = []
}

/// Plain bytes behind the switch to TLS.
///
/// Whoever takes them for part of the secured dialogue lets an attacker put words into it
/// (CVE-2011-0411 and its family). They must be dropped, or the connection be refused.
package struct InjectedBytes: Sendable, Equatable {
    package enum Side: String, Sendable {
        case client
        case origin
    }

    package var side: Side
    /// Of those that were seen; more may have been under way.
    package var count: Int
    /// The first of them, at most `sampleLimit` bytes.
    package var sample: [UInt8]

    /// In bytes: enough to see which commands they are.
    package static let sampleLimit = 64
}

/// Something that was learned of a dialogue before TLS.
package enum UpgradeFact: Sendable, Equatable {
    /// The protocol is known now.
    case named(String)
    /// The origin offers TLS.
    case offered(command: String)
    /// The client asked for TLS.
    case asked(command: String)
    /// The origin refused; the answer is cut to 128 bytes of visible ASCII.
    case refused(command: String, answer: String)
    case plaintextLogin(PlaintextLogin)
    /// Both agreed on an encryption that is not TLS and cannot be read: GSSAPI.
    case otherEncryption
}

/// A client's login before TLS. No name and no secret is kept.
package struct PlaintextLogin: Sendable, Equatable {
    /// The command and the mechanism, such as `AUTH PLAIN`, `LOGIN` or `PASS`.
    package var command: String
    /// Whether the origin had offered TLS, which the client did not use.
    package var wasUpgradeOffered: Bool
    /// Whether who listens has the secret itself; not so for a hash, an unknown mechanism, or a
    /// guest's password.
    package var exposesSecret: Bool
}
