package import Contents

/// Whether bytes have the digest that was claimed for them; the raw values are a contract.
package struct DigestCheck: Sendable, Equatable {
    package let field: ClaimedDigest.Field
    package let algorithm: ClaimedAlgorithm
    package let outcome: Outcome

    package enum Outcome: String, Sendable {
        case match
        case mismatch
        /// Not all of the bytes are there.
        case unchecked
    }
}
