/// The certificates that a server shows, with the key that it has for the first of them.
package struct PresentedChain: Sendable {
    /// Leaf first, as they are sent; a flawed one need not hang together.
    package let certificates: [Certificate]
    package let key: PrivateKey
    /// Those of the recipes that the client is to trust.
    package var anchors: [Certificate] = []
    /// A stapled answer about the leaf's revocation, in DER (RFC 6066 §8); `nil` for none.
    package var staple: [UInt8]?
    /// What is said of the leaf's revocation at an address that it names, in DER; `nil` for nothing.
    package var publication: [UInt8]?

    package init(certificates: [Certificate], key: PrivateKey, staple: [UInt8]? = nil) {
        self.certificates = certificates
        self.key = key
        self.staple = staple
    }
}
