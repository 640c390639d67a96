internal import COpenSSL

/// Seals and opens under one key with an AEAD (RFC 5116): what protects records of TLS.
///
/// Not `Sendable`: one task has it at a time.
@safe
package final class AEADSession {
    private let context: OpaquePointer
    private let algorithm: Algorithm
    private let key: [UInt8]

    package enum Algorithm: Sendable {
        case aes128GCM
        case aes256GCM
        case chaCha20Poly1305

        /// In bytes.
        package var keyLength: Int { self == .aes128GCM ? 16 : 32 }
    }

    /// In bytes.
    package static let tagLength = 16
    package static let nonceLength = 12

    package init(_ algorithm: Algorithm, key: [UInt8]) {
        precondition(key.count == algorithm.keyLength, "no key")
        guard let made = unsafe EVP_CIPHER_CTX_new() else { preconditionFailure("out of memory") }
        unsafe context = made
        self.algorithm = algorithm
        self.key = key
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(context)
    }

    /// Appends what `content` is sealed to, with its tag.
    package func seal(
        _ content: [UInt8], nonce: [UInt8], authenticated: [UInt8], into output: inout [UInt8]
    ) {
        begin(nonce, authenticated, isSealing: true)
        var sealed = [UInt8](repeating: 0, count: content.count + Self.tagLength)
        var tag = [UInt8](repeating: 0, count: Self.tagLength)
        var count: Int32 = 0
        guard
            unsafe EVP_CipherUpdate(
                context, &sealed, &count, content, Int32(clamping: content.count)) == 1,
            unsafe EVP_CipherFinal_ex(context, &tag, &count) == 1,
            unsafe EVP_CIPHER_CTX_ctrl(
                context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagLength), &tag) == 1
        else { preconditionFailure("OpenSSL lacks a cipher that the product needs") }
        sealed.replaceSubrange(content.count..., with: tag)
        output += sealed
    }

    /// Opens what was sealed.
    ///
    /// - Parameter sealed: ends with the tag.
    /// - Returns: `nil` if the tag is not right, or there is none.
    package func open(
        _ sealed: ArraySlice<UInt8>, nonce: [UInt8], authenticated: [UInt8]
    ) -> [UInt8]? {
        let length = sealed.count - Self.tagLength
        guard length >= 0, let size = Int32(exactly: length) else { return nil }
        let content = [UInt8](sealed.prefix(length))
        var tag = [UInt8](sealed.suffix(Self.tagLength))
        begin(nonce, authenticated, isSealing: false)
        defer { OpenSSLErrors.clear() }
        var result = [UInt8](repeating: 0, count: length)
        var last = [UInt8](repeating: 0, count: Self.tagLength)
        var count: Int32 = 0
        guard
            unsafe EVP_CIPHER_CTX_ctrl(
                context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagLength), &tag) == 1,
            unsafe EVP_CipherUpdate(context, &result, &count, content, size) == 1,
            unsafe EVP_CipherFinal_ex(context, &last, &count) == 1
        else { return nil }
        return result
    }

    private func begin(_ nonce: [UInt8], _ authenticated: [UInt8], isSealing: Bool) {
        precondition(nonce.count == Self.nonceLength, "no nonce")
        let cipher =
            switch algorithm {
            case .aes128GCM: unsafe EVP_aes_128_gcm()
            case .aes256GCM: unsafe EVP_aes_256_gcm()
            case .chaCha20Poly1305: unsafe EVP_chacha20_poly1305()
            }
        var count: Int32 = 0
        let extra = Int32(clamping: authenticated.count)
        guard
            unsafe EVP_CipherInit_ex(context, cipher, nil, key, nonce, isSealing ? 1 : 0) == 1,
            unsafe EVP_CipherUpdate(context, nil, &count, authenticated, extra) == 1
        else { preconditionFailure("OpenSSL lacks a cipher that the product needs") }
    }
}
