package import Base

/// How a task may be done; what is nobody's business is referred to and not in it.
package struct TransferOptions: Sendable, Equatable {
    /// Whether it may wait for power and a network that costs nothing.
    package var isDiscretionary = false
    /// Whether it was enqueued by a program that the system had woken; it is discretionary then.
    package var isFromWake = false
    /// Whether its URL is from a stranger's document, and not from a user: no redirect leads it into
    /// the local network then, nor to this machine.
    package var isFromStranger = false
    package var allowsCellular = true
    /// Whether it waits for a network, rather than fail without one.
    package var waitsForConnectivity = true
    /// Higher ones are first.
    package var priority = 0
    package var storage = StorageClass.none
    /// What a download has to be, as somebody says who knows.
    package var expected: ExpectedDigest?
    /// In bytes; a longer download is refused.
    package var byteLimit: Int64?
    /// Names what the credential source knows; no credential itself.
    package var credential: String?
    /// Failures in a row, without a byte between them, after which it has failed.
    package var retryLimit = 20
    /// The path of certificates in PEM that are trusted besides the system's; `nil` for none.
    package var authorities: String?
    /// SHA-256 of public keys, one of which has to be in the origin's chain; none for any.
    package var pins: [[UInt8]] = []
    /// Sent with each request to the task's own origin.
    package var fields: [TransferField] = []
    /// Whether a file that is in the way is replaced.
    package var replacesFile = false
    package var upload = UploadOptions()

    package init() {}

    package var mayBeDeferred: Bool { isDiscretionary || isFromWake }
}

/// A field of a request that is no secret.
package struct TransferField: Sendable, Equatable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A digest of a whole file that was told beforehand.
package struct ExpectedDigest: Sendable, Equatable {
    package let algorithm: DigestAlgorithm
    package let bytes: [UInt8]

    package init(_ algorithm: DigestAlgorithm, _ bytes: [UInt8]) {
        self.algorithm = algorithm
        self.bytes = bytes
    }
}
