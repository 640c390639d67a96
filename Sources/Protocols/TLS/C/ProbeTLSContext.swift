package import Base
internal import COpenSSL

/// The server of one probe: nothing that a client keeps of one is known to the next.
///
/// Its guard is down: it speaks whatever the library knows, however weak, shows any certificate, and
/// completes no chain.
package final class ProbeTLSContext: TLSContext {
    private let configuration: ProbeTLSConfiguration

    /// Errors: `probe-not-possible`.
    package init(_ configuration: ProbeTLSConfiguration) throws(Failure) {
        self.configuration = configuration
        let isNew = configuration.versions.minimum == .tls13
        unsafe super.init(
            method: unsafe TLS_server_method(), versions: configuration.versions,
            algorithms: configuration.hasWrongFinished
                ? try AlgorithmLibrary(wrongFinishedOfTLS13: isNew) : nil)
        unsafe openssl_lower_guard(pointer)
        chooseProtocols()
        OpenSSLErrors.clear()
        guard unsafe SSL_CTX_set_cipher_list(pointer, configuration.suites) == 1 else {
            throw impossible("the library has none of the suites")
        }
        if let bits = configuration.smallGroup {
            guard unsafe openssl_use_small_group(pointer, Int32(bits)) == 1 else {
                throw impossible("the library takes no group of \(bits) bits")
            }
        }
        if var key = configuration.ticketKey {
            unsafe openssl_allow_tickets(pointer, &key, key.count)
            unsafe SSL_CTX_set_session_id_context(pointer, [UInt8]("sallyport".utf8), 9)
        }
        if let chain = configuration.chain { try install(chain) }
        OpenSSLErrors.clear()
    }

    package func makeSession() -> TLSSession {
        let session = unsafe makePointer()
        unsafe SSL_set_accept_state(session)
        if let staple = configuration.chain?.staple {
            unsafe openssl_staple(pointer, session, staple, staple.count)
        }
        OpenSSLErrors.clear()
        return unsafe TLSSession(
            owning: session, context: self, acceptedProtocols: configuration.protocols,
            resumptionKey: nil)
    }

    private func install(_ chain: PresentedChain) throws(Failure) {
        guard let leaf = chain.certificates.first else { throw impossible("the chain is empty") }
        switch configuration.signature {
        case .foreign: try disguise(leaf)
        case .sound: try use(leaf, with: chain.key)
        case .corrupt:
            guard let key = unsafe openssl_damaged_key(chain.key.pointer) else {
                throw impossible("a key of its kind cannot be made to sign wrongly")
            }
            try use(leaf, with: unsafe PrivateKey(owning: key))
        }
        for certificate in chain.certificates.dropFirst() {
            unsafe openssl_add_chain_certificate(pointer, certificate.pointer)
        }
    }

    private func use(_ leaf: Certificate, with key: PrivateKey) throws(Failure) {
        OpenSSLErrors.clear()
        guard unsafe SSL_CTX_use_certificate(pointer, leaf.pointer) == 1,
            unsafe SSL_CTX_use_PrivateKey(pointer, key.pointer) == 1
        else { throw impossible("the library does not serve the certificate") }
    }

    /// Shows `leaf`, byte for byte, with a key that is not its own.
    ///
    /// The library compares the two when they are put in. So a certificate of ours is put in, whose
    /// content is then replaced in place: reading DER into an object that is there keeps the object.
    private func disguise(_ leaf: Certificate) throws(Failure) {
        let key = try ForeignKeys.key(like: leaf)
        guard let made = unsafe X509_new() else { preconditionFailure("out of memory") }
        let mask = unsafe Certificate(owning: made)
        unsafe setRandomSerial(made)
        unsafe X509_set_pubkey(made, key.pointer)
        try use(mask, with: key)
        let content = leaf.der
        var object: OpaquePointer? = unsafe made
        let read = unsafe content.withUnsafeBufferPointer { bytes in
            var place = bytes.baseAddress
            return unsafe d2i_X509(&object, &place, bytes.count)
        }
        guard unsafe read == made, mask.der == content else {
            throw impossible("the library does not show a certificate without its key")
        }
    }

    private func impossible(_ detail: String) -> Failure {
        let reason = ERR_peek_error() == 0 ? "" : ": \(OpenSSLErrors.take())"
        return Failure("probe-not-possible", party: .tool, detail + reason)
    }
}
