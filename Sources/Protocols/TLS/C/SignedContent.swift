package import Base
internal import COpenSSL

/// Contents with a signature around them (CMS, RFC 5652), in DER.
package enum SignedContent {
    /// The content, if its signatures are right, whoever they are by; `nil` for anything else.
    package static func content(of signed: [UInt8]) -> [UInt8]? {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        let read = unsafe signed.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return unsafe d2i_CMS_ContentInfo(nil, &cursor, bytes.count)
        }
        guard let read = unsafe read else { return nil }
        defer { unsafe CMS_ContentInfo_free(read) }
        guard let target = unsafe BIO_new(BIO_s_mem()) else { return nil }
        defer { unsafe BIO_free(target) }
        let flags = UInt32(CMS_BINARY | CMS_NO_SIGNER_CERT_VERIFY)
        guard unsafe CMS_verify(read, nil, nil, nil, target, flags) == 1 else { return nil }
        return unsafe bytes(ofMemory: target)
    }

    static func sign(
        _ content: [UInt8], by certificate: Certificate, _ key: PrivateKey
    ) -> [UInt8]? {
        OpenSSLErrors.clear()
        guard let source = unsafe BIO_new_mem_buf(content, Int32(clamping: content.count)) else {
            return nil
        }
        defer { unsafe BIO_free(source) }
        guard
            let made = unsafe CMS_sign(
                certificate.pointer, key.pointer, nil, source, UInt32(CMS_BINARY))
        else { return nil }
        defer { unsafe CMS_ContentInfo_free(made) }
        var coded: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_CMS_ContentInfo(made, &coded)
        guard count > 0, let bytes = unsafe coded else { return nil }
        defer { unsafe CRYPTO_free(bytes, nil, 0) }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }
}

extension CertificateAuthority {
    /// Signs a content with a certificate that it issues for a name.
    ///
    /// Errors: `signature-failed`.
    package func signed(_ content: [UInt8], as name: String) throws(Failure) -> [UInt8] {
        let issuer = LeafIssuer(authority: certificate, authorityKey: key)
        guard let signed = SignedContent.sign(content, by: issuer.issue(name), issuer.leafKey)
        else {
            throw Failure(
                "signature-failed", party: .tool, "cannot sign: \(OpenSSLErrors.take())")
        }
        return signed
    }
}
