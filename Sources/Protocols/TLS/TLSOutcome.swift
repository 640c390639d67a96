/// How far a session came with the bytes that it had.
package enum TLSProgress: Sendable, Equatable {
    case done
    /// More of the peer's bytes are needed.
    case wantRead
    /// What waits for the peer must be sent first.
    case wantWrite
    case failed(TLSFailure)
}

/// What reading brought.
package enum TLSReadOutcome: Sendable, Equatable {
    /// So many bytes of plaintext; never 0.
    case bytes(Int)
    case wantRead
    case wantWrite
    /// The peer said close_notify.
    case ended
    case failed(TLSFailure)
}

/// What is known of a session once its handshake is done.
package struct TLSParameters: Sendable, Equatable {
    /// Such as `TLSv1.3`.
    package let version: String
    package let cipher: String
    package let alpn: String?
    package let isResumed: Bool

    package init(version: String, cipher: String, alpn: String?, isResumed: Bool) {
        self.version = version
        self.cipher = cipher
        self.alpn = alpn
        self.isResumed = isResumed
    }
}
