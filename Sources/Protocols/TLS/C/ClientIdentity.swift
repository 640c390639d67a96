package import Base
internal import COpenSSL

/// What a client shows to a server that asks for a certificate.
package struct ClientIdentity: Sendable {
    /// The leaf first, then those that lead from it to an authority.
    package let certificates: [Certificate]
    let key: PrivateKey

    /// Reads PEM, or PKCS #12 (RFC 7292).
    ///
    /// - Parameters:
    ///   - name: what the file is called.
    ///   - key: PEM with the key, where that is in a file of its own, and what it is called.
    ///   - passwords: tried one after the other on what is encrypted.
    ///
    /// Errors: `certificate-invalid`, `key-invalid`, `key-mismatch`.
    package static func read(
        _ bytes: [UInt8], name: String, key: (pem: [UInt8], name: String)? = nil,
        passwords: [String]
    ) throws(Failure) -> ClientIdentity {
        // A PKCS #12 file is a SEQUENCE in DER.
        if key == nil, bytes.first == 0x30 {
            return try read(pkcs12: bytes, name: name, passwords: passwords)
        }
        let (pem, keyName) = key ?? (bytes, name)
        guard pem.firstRange(of: Array("PRIVATE KEY-----".utf8)) != nil else {
            throw Failure(
                "key-invalid", party: .tool, "no private key in \(keyName)",
                hint: "name the file that it is in: --client-cert HOST=\(name):KEYFILE")
        }
        return try ClientIdentity(
            Certificate.all(inPEM: bytes, name: name), name: name,
            key: PrivateKey.read(pem: pem, passwords: passwords, name: keyName), keyName: keyName)
    }

    /// Errors: `key-mismatch`.
    private init(
        _ certificates: [Certificate], name: String, key: PrivateKey, keyName: String
    ) throws(Failure) {
        guard let place = certificates.firstIndex(where: key.belongs) else {
            throw Failure(
                "key-mismatch", party: .tool,
                certificates.isEmpty
                    ? "no certificate in \(name)"
                    : "the key in \(keyName) is of no certificate in \(name)")
        }
        var ordered = certificates
        ordered.insert(ordered.remove(at: place), at: 0)
        self.certificates = ordered
        self.key = key
    }

    private static func read(
        pkcs12 bytes: [UInt8], name: String, passwords: [String]
    ) throws(Failure) -> ClientIdentity {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        let found = unsafe bytes.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return unsafe d2i_PKCS12(nil, &cursor, bytes.count)
        }
        guard let bag = unsafe found else {
            throw Failure(
                "certificate-invalid", party: .tool, "\(name) is neither PEM nor PKCS #12")
        }
        defer { unsafe PKCS12_free(bag) }
        var reason = ""
        for password in [""] + passwords {
            OpenSSLErrors.clear()
            var (key, leaf, others): (OpaquePointer?, OpaquePointer?, OpaquePointer?)
            guard unsafe PKCS12_parse(bag, password, &key, &leaf, &others) == 1 else {
                reason = OpenSSLErrors.take()
                continue
            }
            defer { unsafe openssl_free_chain(others) }
            var certificates = unsafe [leaf].compactMap { unsafe $0.map(Certificate.init(owning:)) }
            for index in 0..<(unsafe openssl_chain_count(others)) {
                guard let item = unsafe openssl_chain_item(others, index) else { continue }
                unsafe X509_up_ref(item)
                certificates.append(unsafe Certificate(owning: item))
            }
            guard let key = unsafe key else {
                throw Failure("key-invalid", party: .tool, "no private key in \(name)")
            }
            return try ClientIdentity(
                certificates, name: name, key: unsafe PrivateKey(owning: key), keyName: name)
        }
        throw Failure(
            "key-invalid", party: .tool, "cannot decrypt \(name): \(reason)",
            hint: reason.contains("unsupported")
                ? "its algorithms are old ones: pack it anew with openssl pkcs12 -legacy"
                : PrivateKey.passwordHint)
    }
}

extension PrivateKey {
    static let passwordHint =
        "an encrypted key needs its password in a file: --client-cert-password-file FILE"

    /// Reads a key in PEM that one of the passwords decrypts, if it is encrypted.
    ///
    /// Errors: `key-invalid`.
    static func read(
        pem: [UInt8], passwords: [String], name: String
    ) throws(Failure) -> PrivateKey {
        for password in passwords {
            do throws(Failure) {
                return try read(pem: pem, password: password, name: name)
            } catch {
                // Another one may be its password; what is wrong besides is told by the last try.
                continue
            }
        }
        return try read(pem: pem, password: nil, name: name, hint: passwordHint)
    }
}
