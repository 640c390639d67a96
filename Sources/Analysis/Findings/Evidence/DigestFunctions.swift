/// The digests that the rules need, given by the caller because this target has no C.
package struct DigestFunctions: Sendable {
    package let sha256: @Sendable ([UInt8]) -> [UInt8]
    package let sha1: @Sendable ([UInt8]) -> [UInt8]
    package let md5: @Sendable ([UInt8]) -> [UInt8]
    package let hmacSHA256: @Sendable (_ key: [UInt8], _ bytes: [UInt8]) -> [UInt8]

    package init(
        sha256: @escaping @Sendable ([UInt8]) -> [UInt8],
        sha1: @escaping @Sendable ([UInt8]) -> [UInt8],
        md5: @escaping @Sendable ([UInt8]) -> [UInt8],
        hmacSHA256: @escaping @Sendable (_ key: [UInt8], _ bytes: [UInt8]) -> [UInt8]
    ) {
        self.sha256 = sha256
        self.sha1 = sha1
        self.md5 = md5
        self.hmacSHA256 = hmacSHA256
    }
}
