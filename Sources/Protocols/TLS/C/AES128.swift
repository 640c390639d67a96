internal import COpenSSL

/// AES with keys of 128 bits, as QUIC's first packets need it (RFC 9001 §5.3, §5.4.3).
enum AES128 {
    /// In bytes, of a block and of GCM's tag.
    private static let blockLength = 16

    /// Encrypts one block of 16 bytes with a key of 16.
    static func encryptBlock(_ block: [UInt8], key: [UInt8]) -> [UInt8] {
        precondition(block.count == blockLength && key.count == 16, "no block, or no key")
        return unsafe withContext { context in
            var result = [UInt8](repeating: 0, count: blockLength)
            var count: Int32 = 0
            guard
                unsafe EVP_EncryptInit_ex(context, EVP_aes_128_ecb(), nil, key, nil) == 1,
                unsafe EVP_CIPHER_CTX_set_padding(context, 0) == 1,
                unsafe EVP_EncryptUpdate(context, &result, &count, block, Int32(block.count)) == 1
            else { preconditionFailure("OpenSSL lacks a cipher that the product needs") }
            return result
        }
    }

    /// Decrypts what GCM sealed.
    ///
    /// - Parameters:
    ///   - sealed: ends with the tag of 16 bytes.
    ///   - key: 16 bytes.
    ///   - nonce: 12 bytes.
    /// - Returns: `nil` if the tag is not right, or there is none.
    static func open(
        _ sealed: [UInt8], key: [UInt8], nonce: [UInt8], authenticated: [UInt8]
    ) -> [UInt8]? {
        precondition(key.count == 16 && nonce.count == 12, "no key, or no nonce")
        let length = sealed.count - blockLength
        guard length >= 0, let size = Int32(exactly: length) else { return nil }
        var tag = [UInt8](sealed[length...])
        defer { OpenSSLErrors.clear() }
        return unsafe withContext { context in
            var result = [UInt8](repeating: 0, count: length)
            var count: Int32 = 0
            let extra = Int32(clamping: authenticated.count)
            guard
                unsafe EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1,
                unsafe EVP_DecryptUpdate(context, nil, &count, authenticated, extra) == 1,
                unsafe EVP_CIPHER_CTX_ctrl(
                    context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
            else { preconditionFailure("OpenSSL lacks a cipher that the product needs") }
            // GCM has nothing left to give here, but OpenSSL wants a place for it.
            var last = [UInt8](repeating: 0, count: blockLength)
            guard
                unsafe EVP_DecryptUpdate(context, &result, &count, sealed, size) == 1,
                unsafe EVP_DecryptFinal_ex(context, &last, &count) == 1
            else { return nil }
            return result
        }
    }

    private static func withContext<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        guard let context = unsafe EVP_CIPHER_CTX_new() else {
            preconditionFailure("out of memory")
        }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        return unsafe body(context)
    }
}
