internal import COpenSSL

/// What the sessions of one side on one event loop share.
///
/// Not `Sendable`: each loop has its own, because loops that share one reach little more than half
/// of their handshakes.
@safe
package class TLSContext {
    let pointer: OpaquePointer
    /// Held until the context is gone.
    private let algorithms: AlgorithmLibrary?
    private var tickets: [String: Ticket] = [:]
    /// Resumption tickets kept at most; the cache starts anew when it is full.
    private static let ticketLimit = 2048

    @safe
    private final class Ticket {
        let pointer: OpaquePointer
        init(owning pointer: OpaquePointer) { unsafe self.pointer = pointer }
        deinit { unsafe SSL_SESSION_free(pointer) }
    }

    /// - Parameter algorithms: where they come from; `nil` for the process's own.
    init(
        method: OpaquePointer?, versions: TLSVersions, algorithms: AlgorithmLibrary? = nil
    ) {
        self.algorithms = algorithms
        guard let made = unsafe SSL_CTX_new_ex(algorithms?.pointer, algorithms?.properties, method)
        else {
            preconditionFailure("OpenSSL cannot make a context: \(OpenSSLErrors.take())")
        }
        unsafe pointer = made
        unsafe openssl_set_modes(made)
        unsafe openssl_set_minimum_version(made, Int32(versions.minimum.rawValue))
        unsafe openssl_set_maximum_version(made, Int32(versions.maximum.rawValue))
        if versions.minimum < .tls12 {
            // The old versions sign with SHA-1, which higher security levels refuse.
            unsafe SSL_CTX_set_cipher_list(pointer, "DEFAULT:@SECLEVEL=0")
        }
        unsafe SSL_CTX_set_keylog_callback(made) { session, line in
            guard let session = unsafe TLSContext.session(session), let line = unsafe line else {
                return
            }
            session.note(keyLogLine: unsafe String(cString: line))
        }
        unsafe SSL_CTX_set_info_callback(made) { session, place, value in
            guard place & SSL_CB_ALERT != 0, let session = unsafe TLSContext.session(session) else {
                return
            }
            session.note(
                alert: TLSAlert(isFatal: value >> 8 == 2, code: UInt8(truncatingIfNeeded: value)),
                isOurs: place & SSL_CB_WRITE != 0)
        }
        unsafe SSL_CTX_set_msg_callback(made) { isOurs, _, kind, bytes, count, session, _ in
            guard kind == SSL3_RT_HANDSHAKE, count > 0, let bytes = unsafe bytes,
                let session = unsafe TLSContext.session(session)
            else { return }
            session.note(message: unsafe bytes.load(as: UInt8.self), isOurs: isOurs == 1)
        }
    }

    deinit {
        unsafe SSL_CTX_free(pointer)
    }

    static func session(_ pointer: OpaquePointer?) -> TLSSession? {
        guard let data = unsafe SSL_get_ex_data(pointer, 0) else { return nil }
        return unsafe Unmanaged<TLSSession>.fromOpaque(data).takeUnretainedValue()
    }

    /// Lets each server session choose of the protocols that it accepts (RFC 7301).
    func chooseProtocols() {
        unsafe SSL_CTX_set_alpn_select_cb(
            pointer,
            { session, chosen, chosenLength, offered, offeredLength, _ in
                guard let session = unsafe TLSContext.session(session),
                    let offered = unsafe offered, let chosen = unsafe chosen
                else { return SSL_TLSEXT_ERR_NOACK }
                let list = unsafe UnsafeBufferPointer(start: offered, count: Int(offeredLength))
                guard
                    let place = unsafe offsetOfProtocol(
                        session.acceptedProtocols, offered: Array(list))
                else { return SSL_TLSEXT_ERR_NOACK }
                unsafe chosen.pointee = offered + place.lowerBound
                unsafe chosenLength?.pointee = UInt8(place.count)
                return SSL_TLSEXT_ERR_OK
            }, nil)
    }

    func makePointer() -> OpaquePointer {
        OpenSSLErrors.clear()
        guard let made = unsafe SSL_new(pointer) else { preconditionFailure("out of memory") }
        return unsafe made
    }

    func keep(ticket: OpaquePointer, for key: String) {
        if tickets.count >= Self.ticketLimit { tickets.removeAll() }
        tickets[key] = unsafe Ticket(owning: ticket)
    }

    fileprivate func offerTicket(for key: String, on session: OpaquePointer) {
        guard let ticket = tickets[key] else { return }
        unsafe SSL_set_session(session, ticket.pointer)
        // RFC 8446 §C.4: a ticket that is used once cannot tie two connections together.
        if unsafe SSL_SESSION_get_protocol_version(ticket.pointer) == TLS1_3_VERSION {
            tickets[key] = nil
        }
    }
}

/// The client's leg: we are the server, and show certificates of our own authority.
package final class TLSServerContext: TLSContext {
    private let issuer: LeafIssuer
    private var leaves: [String: Certificate] = [:]
    private let leafLimit: Int

    /// - Parameters:
    ///   - ticketKey: 80 random bytes that all loops share, so that a client can resume on any.
    ///   - leafLimit: how many certificates are kept; the cache starts anew when it is full.
    package init(
        authority: CertificateAuthority, versions: TLSVersions = .modern, ticketKey: [UInt8],
        leafLimit: Int = 1024
    ) {
        issuer = LeafIssuer(authority: authority.certificate, authorityKey: authority.key)
        self.leafLimit = leafLimit
        unsafe super.init(method: unsafe TLS_server_method(), versions: versions)
        // The key comes first: OpenSSL keeps a chain for each kind of key, and adds to the last one.
        unsafe SSL_CTX_use_PrivateKey(pointer, issuer.leafKey.pointer)
        // A root is left out (RFC 8446 §4.4.2): who trusts it has it.
        if !authority.certificate.isSelfIssued {
            unsafe openssl_add_chain_certificate(pointer, authority.certificate.pointer)
        }
        var key = ticketKey
        unsafe openssl_set_ticket_keys(pointer, &key, key.count)
        unsafe SSL_CTX_set_num_tickets(pointer, 1)
        unsafe SSL_CTX_set_session_id_context(pointer, [UInt8]("sallyport".utf8), 9)
        unsafe openssl_set_session_cache_mode(pointer, Int(SSL_SESS_CACHE_OFF))
        // Whatever a client shows is taken and recorded; that it has the key is looked at all the same.
        unsafe SSL_CTX_set_cert_verify_callback(pointer, { _, _ in 1 }, nil)
        chooseProtocols()
    }

    /// Begins a session that shows a certificate for `name`.
    ///
    /// - Parameters:
    ///   - name: a DNS name in lower case, or an IP address.
    ///   - address: an IP address that the certificate is for as well; `nil` for none.
    ///   - protocols: what may be chosen from the client's offer, in the order of preference.
    ///   - asksForCertificate: whether the client is asked for a certificate, which it need not have.
    package func makeSession(
        for name: String, and address: String? = nil, protocols: [String],
        asksForCertificate: Bool = false
    ) -> TLSSession {
        let session = unsafe makePointer()
        unsafe SSL_set_accept_state(session)
        if asksForCertificate {
            unsafe SSL_set_verify(session, SSL_VERIFY_PEER, nil)
            // A session in which nobody was asked is not resumed: its client would not be asked then.
            unsafe SSL_set_session_id_context(session, [UInt8]("sallyport asks".utf8), 14)
        }
        unsafe SSL_use_certificate(session, leaf(for: name, and: address).pointer)
        // Errors that are left behind would be taken for another session's.
        OpenSSLErrors.clear()
        return unsafe TLSSession(
            owning: session, context: self, acceptedProtocols: protocols, resumptionKey: nil)
    }

    /// The certificate for a name, and an address if there is one, made at the first call for them.
    package func leaf(for name: String, and address: String? = nil) -> Certificate {
        // No name has a space in it.
        let key = address.map { "\(name) \($0)" } ?? name
        if let known = leaves[key] { return known }
        if leaves.count >= leafLimit { leaves.removeAll() }
        let made = issuer.issue(name, and: address)
        leaves[key] = made
        return made
    }
}

/// Where in a client's ALPN offer (RFC 7301 §3.1) the first protocol that we accept stands.
func offsetOfProtocol(_ accepted: [String], offered: [UInt8]) -> Range<Int>? {
    for name in accepted {
        var place = 0
        while place < offered.count {
            let end = place + 1 + Int(offered[place])
            guard end <= offered.count else { break }
            if offered[(place + 1)..<end].elementsEqual(name.utf8) { return (place + 1)..<end }
            place = end
        }
    }
    return nil
}

/// The origin's leg: we are the client, and verify.
package final class TLSClientContext: TLSContext {
    /// - Parameters:
    ///   - extraAuthorities: certificates that are trusted besides the system's.
    ///   - keepsSecrecy: whether suites without forward secrecy, or without authenticated encryption,
    ///     are not offered (RFC 9325 §4.1, §4.2).
    package init(
        versions: TLSVersions = .modern, extraAuthorities: [Certificate] = [],
        trustsSystem: Bool = true, keepsSecrecy: Bool = false
    ) {
        unsafe super.init(method: unsafe TLS_client_method(), versions: versions)
        if keepsSecrecy {
            unsafe SSL_CTX_set_cipher_list(
                pointer, "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20")
        }
        // The system's folder is looked up by issuer when a chain needs it, so that a start does
        // not pay for reading all of it.
        if trustsSystem { unsafe SSL_CTX_set_default_verify_paths(pointer) }
        let store = unsafe SSL_CTX_get_cert_store(pointer)
        for authority in extraAuthorities { unsafe X509_STORE_add_cert(store, authority.pointer) }
        // The result is asked for after the handshake: a failure is a finding, and what follows
        // from it is the plan's choice.
        unsafe SSL_CTX_set_verify(pointer, SSL_VERIFY_NONE, nil)
        // Asked when a server wants a certificate.
        unsafe SSL_CTX_set_cert_cb(
            pointer,
            { session, _ in
                if let session = unsafe TLSContext.session(session) {
                    session.answerCertificateRequest()
                }
                return 1
            }, nil)
        unsafe openssl_set_session_cache_mode(
            pointer, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL))
        unsafe SSL_CTX_sess_set_new_cb(pointer) { session, ticket in
            guard let ticket = unsafe ticket, let session = unsafe TLSContext.session(session)
            else {
                return 0
            }
            return unsafe session.keep(ticket: ticket) ? 1 : 0
        }
        OpenSSLErrors.clear()
    }

    /// Begins a session towards an origin.
    ///
    /// - Parameters:
    ///   - name: what the certificate must be for: a DNS name, or an IP address.
    ///   - serverName: what is sent as SNI; `nil` for none, as for addresses (RFC 6066 §3).
    ///   - protocols: what is offered by ALPN, in the order of preference.
    ///   - resumptionKey: sessions with the same key may resume each other.
    package func makeSession(
        verifying name: String, serverName: String?, protocols: [String], resumptionKey: String
    ) -> TLSSession {
        let session = unsafe makePointer()
        unsafe SSL_set_connect_state(session)
        if let serverName { unsafe openssl_set_server_name(session, serverName) }
        let isNameSet = unsafe Self.expect(name, of: session)
        if !protocols.isEmpty {
            let offer = protocols.flatMap { [UInt8($0.utf8.count)] + $0.utf8 }
            unsafe SSL_set_alpn_protos(session, offer, UInt32(offer.count))
        }
        unsafe offerTicket(for: resumptionKey, on: session)
        OpenSSLErrors.clear()
        return unsafe TLSSession(
            owning: session, context: self, acceptedProtocols: [], resumptionKey: resumptionKey,
            isNameSet: isNameSet)
    }

    /// Tells whom the certificate must be for, by its alternative names alone (RFC 9525 §6.3): a
    /// common name may hold anything, and a wildcard stands for a whole label.
    ///
    /// - Returns: whether that is looked at. OpenSSL takes no name for every name, a first dot for
    ///   all that is below, and ends a name at a NUL.
    private static func expect(_ name: String, of session: OpaquePointer) -> Bool {
        guard let first = name.utf8.first, first != UInt8(ascii: "."), !name.utf8.contains(0)
        else { return false }
        let parameters = unsafe SSL_get0_param(session)
        unsafe X509_VERIFY_PARAM_set_hostflags(
            parameters,
            UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
        return unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, name) == 1
            || X509_VERIFY_PARAM_set1_host(parameters, name, 0) == 1
    }
}
