package import Base
internal import COpenSSL

/// One end of a TLS connection, without a socket: the peer's bytes go in, ours come out.
///
/// The driver lends `incoming` and `outgoing` for as long as they hold something, so that an idle
/// session owns no buffer. Not `Sendable`: one task drives it.
@safe
package final class TLSSession {
    let pointer: OpaquePointer
    private let context: TLSContext
    /// What the peer sent and the session has not taken yet.
    package var incoming: ByteBuffer?
    /// What the peer has to be sent.
    package var outgoing: ByteBuffer?

    /// Alerts in the order seen, with whether this end sent them.
    package private(set) var alerts: [(isOurs: Bool, alert: TLSAlert)] = []
    /// Handshake messages by their types (RFC 8446 §4) in the order seen, with whether this end sent
    /// them; only the first are kept.
    package private(set) var messages: [(isOurs: Bool, type: UInt8)] = []
    /// Lines of the key log format, without line ends; `takeKeyLog` empties it.
    package private(set) var keyLog: [String] = []
    /// What this end speaks inside, in the order of preference (RFC 7301); server sessions only.
    let acceptedProtocols: [String]
    /// What resumption tickets are kept under; client sessions only.
    let resumptionKey: String?
    /// Whether the name that the peer's certificate must be for is looked at; client sessions only.
    let isNameSet: Bool
    package private(set) var isHandshakeDone = false
    /// Whether the server asked for a certificate; client sessions only.
    package private(set) var wantsCertificate = false
    /// What is shown to a server that asks, and whether also to one whose own certificate does not
    /// verify; client sessions only.
    package var identity: ClientIdentity?
    package var trustsAnybody = false
    /// A server's first bytes, to tell what it speaks if that is not TLS; client sessions only.
    private var firstBytes: [UInt8] = []
    private var saidClose = false
    /// The time of the driver's clock in milliseconds, which it sets before it reads; it only has to
    /// rise.
    package var now: UInt64 = 0
    /// What the peer may send of handshake messages once the handshake is done.
    private var lateMessages = Allowance(
        burst: TLSSession.lateMessageBurst, perSecond: TLSSession.lateMessagesPerSecond)
    /// Whether the peer sent more of them than it may, which ends the session.
    package private(set) var isFlooded = false
    /// How many the peer has sent.
    var lateMessageCount: Int { lateMessages.count }

    init(
        owning pointer: OpaquePointer, context: TLSContext, acceptedProtocols: [String],
        resumptionKey: String?, isNameSet: Bool = false
    ) {
        unsafe self.pointer = pointer
        self.context = context
        self.acceptedProtocols = acceptedProtocols
        self.resumptionKey = resumptionKey
        self.isNameSet = isNameSet
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe SSL_set_ex_data(pointer, 0, me)
        guard let bytes = unsafe BIO_new(TLSBytes.method.pointer) else {
            preconditionFailure("out of memory")
        }
        unsafe BIO_set_data(bytes, me)
        unsafe BIO_set_init(bytes, 1)
        unsafe SSL_set_bio(pointer, bytes, bytes)
    }

    deinit {
        // Else OpenSSL takes a connection without close_notify for cut off, and its ticket for
        // spoilt, which it need not be (RFC 5246 §7.2.1).
        if isHandshakeDone {
            unsafe SSL_set_shutdown(pointer, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        }
        unsafe SSL_free(pointer)
    }

    // MARK: Progress

    /// Goes on with the handshake.
    package func handshake() -> TLSProgress {
        OpenSSLErrors.clear()
        let status = unsafe SSL_do_handshake(pointer)
        if status == 1 {
            isHandshakeDone = true
            return .done
        }
        switch unsafe SSL_get_error(pointer, status) {
        case SSL_ERROR_WANT_READ: return .wantRead
        case SSL_ERROR_WANT_WRITE: return .wantWrite
        default: return .failed(failure())
        }
    }

    /// Decrypts into the buffer's room, a record at the most.
    package func read(into buffer: ByteBuffer) -> TLSReadOutcome {
        // An empty queue needs no clearing, and this is on the path of every record.
        var status: Int32 = 0
        let count = unsafe buffer.fill { space in
            status = unsafe SSL_read(pointer, space.baseAddress, Int32(space.count))
            return Int(max(0, status))
        }
        if count > 0 { return .bytes(count) }
        defer { OpenSSLErrors.clear() }
        if isFlooded { return .failed(failure()) }
        switch unsafe SSL_get_error(pointer, status) {
        case SSL_ERROR_WANT_READ: return .wantRead
        case SSL_ERROR_WANT_WRITE: return .wantWrite
        case SSL_ERROR_ZERO_RETURN: return .ended
        default: return .failed(failure())
        }
    }

    /// Whether bytes of the peer wait inside, which no event of the socket will tell of.
    package var hasPending: Bool { unsafe SSL_has_pending(pointer) == 1 }

    /// Gives the library's own buffers back, 16 KB a direction, where nothing waits in them.
    package func freeBuffers() {
        unsafe SSL_free_buffers(pointer)
    }

    /// Encrypts what the buffer holds into `outgoing`, as far as there is room, and consumes that.
    package func write(_ buffer: ByteBuffer) -> TLSProgress {
        while !buffer.isEmpty {
            let status = unsafe buffer.withUnsafeReadable {
                unsafe SSL_write(pointer, $0.baseAddress, Int32(clamping: $0.count))
            }
            guard status > 0 else {
                switch unsafe SSL_get_error(pointer, status) {
                case SSL_ERROR_WANT_READ: return .wantRead
                case SSL_ERROR_WANT_WRITE: return .wantWrite
                default: return .failed(failure())
                }
            }
            buffer.consume(Int(status))
        }
        return .done
    }

    /// Puts close_notify into `outgoing`, once.
    package func close() {
        guard isHandshakeDone, !saidClose else { return }
        saidClose = true
        OpenSSLErrors.clear()
        unsafe SSL_shutdown(pointer)
        OpenSSLErrors.clear()
    }

    private func failure() -> TLSFailure {
        if isFlooded { return TLSFailure(.flood, Self.floodDetail) }
        let detail = OpenSSLErrors.take()
        if let received = alerts.last(where: { !$0.isOurs && $0.alert.isFatal }) {
            return TLSFailure(
                .alertReceived(received.alert), detail, wantsCertificate: wantsCertificate)
        }
        // A server that ends in order has refused nothing.
        let hasEnded = alerts.contains { !$0.isOurs && $0.alert.code == TLSAlert.closeNotify }
        if hasEnded, !isHandshakeDone, resumptionKey != nil {
            return TLSFailure(.peerClosed, detail)
        }
        let isDamage = alerts.contains {
            $0.isOurs && $0.alert.code == TLSAlert.badRecordMAC
        }
        return TLSFailure(.protocolError, detail, foreign: foreignBytes, isDamage: isDamage)
    }

    /// What a server began with if it is no record of TLS (RFC 8446 §5.1), as far as it has come.
    private var foreignBytes: [UInt8] {
        guard resumptionKey != nil, !isHandshakeDone, let first = firstBytes.first,
            !(20...24).contains(first)
        else {
            return []
        }
        let room = Self.firstByteLimit - firstBytes.count
        guard room > 0, let incoming else { return firstBytes }
        return firstBytes + incoming.copy(0..<min(room, incoming.count))
    }

    fileprivate func note(received bytes: UnsafeRawBufferPointer) {
        guard !isHandshakeDone, resumptionKey != nil, firstBytes.count < Self.firstByteLimit else {
            return
        }
        unsafe firstBytes += bytes.prefix(Self.firstByteLimit - firstBytes.count)
    }

    // MARK: Facts

    package var parameters: TLSParameters {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        unsafe SSL_get0_alpn_selected(pointer, &name, &length)
        let alpn = unsafe name.map {
            unsafe UnsafeBufferPointer(start: $0, count: Int(length)).text
        }
        return unsafe TLSParameters(
            version: String(cString: SSL_get_version(pointer)),
            cipher: SSL_get_current_cipher(pointer).map {
                unsafe String(cString: SSL_CIPHER_get_name($0))
            } ?? "",
            alpn: alpn, isResumed: SSL_session_reused(pointer) == 1)
    }

    /// The digest of the certificate that this end has shown, which names the connection
    /// (`tls-server-end-point`, RFC 5929 §4.1); `nil` without one.
    package var endPointDigest: [UInt8]? {
        defer { OpenSSLErrors.clear() }
        guard let own = unsafe SSL_get_certificate(pointer) else { return nil }
        var kind: Int32 = 0
        unsafe X509_get_signature_info(own, &kind, nil, nil, nil)
        let isWeak = [NID_undef, NID_md5, NID_sha1].contains(kind)
        let algorithm = unsafe EVP_get_digestbyname(OBJ_nid2sn(isWeak ? NID_sha256 : kind))
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var size: UInt32 = 0
        guard unsafe X509_digest(own, algorithm, &digest, &size) == 1 else { return nil }
        return Array(digest.prefix(Int(size)))
    }

    /// The certificates that the peer presented, leaf first, in DER.
    package var peerChain: [[UInt8]] {
        let chain = unsafe SSL_get_peer_cert_chain(pointer)
        return (0..<(unsafe openssl_chain_count(chain))).compactMap { index in
            unsafe openssl_chain_item(chain, index).map { item in
                unsafe X509_up_ref(item)
                return unsafe Certificate(owning: item).der
            }
        }
    }

    /// Takes the key log lines that were gathered.
    package func takeKeyLog() -> [String] {
        defer { keyLog = [] }
        return keyLog
    }

    func note(alert: TLSAlert, isOurs: Bool) {
        guard alerts.count < Self.alertLimit else { return }
        alerts.append((isOurs, alert))
    }

    /// Shows what there is to show; the server has shown its own by now.
    func answerCertificateRequest() {
        wantsCertificate = true
        guard let identity, let leaf = identity.certificates.first,
            trustsAnybody || verifyError == nil
        else { return }
        guard unsafe SSL_use_certificate(pointer, leaf.pointer) == 1,
            unsafe SSL_use_PrivateKey(pointer, identity.key.pointer) == 1
        else { return }
        for certificate in identity.certificates.dropFirst() {
            unsafe openssl_add_session_chain_certificate(pointer, certificate.pointer)
        }
    }

    /// The certificates that the client of the connection showed, whichever end that is, leaf first
    /// and in DER: with a handshake that is done, it has proved to have the key.
    package var clientChain: [[UInt8]] {
        guard unsafe SSL_is_server(pointer) == 1 else {
            // Whoever shows one signs with its key (RFC 8446 §4.4.3, RFC 5246 §7.4.8).
            let isShown = messages.contains { $0.isOurs && $0.type == Self.certificateVerify }
            return isShown ? identity?.certificates.map(\.der) ?? [] : []
        }
        guard let leaf = unsafe SSL_get0_peer_certificate(pointer) else { return [] }
        unsafe X509_up_ref(leaf)
        return [unsafe Certificate(owning: leaf).der] + peerChain
    }

    private static let certificateVerify: UInt8 = 15

    func note(message type: UInt8, isOurs: Bool) {
        if isHandshakeDone, !isOurs, !lateMessages.take(now: now) {
            isFlooded = true
            // The library's own buffer holds hundreds of small records: it is to take no more.
            unsafe SSL_set_shutdown(pointer, SSL_get_shutdown(pointer) | SSL_RECEIVED_SHUTDOWN)
        }
        guard messages.count < Self.messageLimit else { return }
        messages.append((isOurs, type))
    }

    func note(keyLogLine line: String) {
        guard keyLog.count < Self.keyLogLimit else { return }
        keyLog.append(line)
    }

    func keep(ticket: OpaquePointer) -> Bool {
        guard let resumptionKey else { return false }
        unsafe context.keep(ticket: ticket, for: resumptionKey)
        return true
    }

    private static let alertLimit = 8
    private static let messageLimit = 64
    /// Tickets, key updates and requests to renegotiate: they bring no byte, and cost far more time
    /// than they have bytes (RFC 8446 §4.6). A server sends a few tickets at once, and nobody new
    /// keys so often.
    private static let lateMessageBurst = 64.0
    private static let lateMessagesPerSecond = 16.0
    package static let floodDetail = "too many handshake messages after the handshake"
    private static let keyLogLimit = 16
    /// In bytes: the first line of most protocols.
    private static let firstByteLimit = 64
}

/// OpenSSL's view of a session's `incoming` and `outgoing`.
private enum TLSBytes {
    static let method = Method()

    /// `@unchecked Sendable`: written once, before it is shared.
    @safe
    final class Method: @unchecked Sendable {
        let pointer: OpaquePointer

        init() {
            guard
                let made = unsafe BIO_meth_new(
                    BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "session bytes")
            else { preconditionFailure("out of memory") }
            unsafe pointer = made
            unsafe BIO_meth_set_read(made) { unsafe TLSBytes.read($0, $1, $2) }
            unsafe BIO_meth_set_write(made) { unsafe TLSBytes.write($0, $1, $2) }
            unsafe BIO_meth_set_ctrl(made) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        }
    }

    private static func read(
        _ bio: OpaquePointer?, _ target: UnsafeMutablePointer<CChar>?, _ room: Int32
    ) -> Int32 {
        unsafe openssl_bio_clear_retry(bio)
        guard let data = unsafe BIO_get_data(bio), let target = unsafe target, room > 0 else {
            return -1
        }
        return unsafe Unmanaged<TLSSession>.fromOpaque(data)._withUnsafeGuaranteedRef { session in
            guard let incoming = session.incoming, !incoming.isEmpty else {
                unsafe openssl_bio_set_retry_read(bio)
                return -1
            }
            let count = min(Int(room), incoming.count)
            unsafe incoming.withUnsafeReadable { source in
                unsafe session.note(received: UnsafeRawBufferPointer(rebasing: source[..<count]))
                unsafe UnsafeMutableRawPointer(target).copyMemory(
                    from: source.baseAddress.unsafelyUnwrapped, byteCount: count)
            }
            incoming.consume(count)
            return Int32(count)
        }
    }

    private static func write(
        _ bio: OpaquePointer?, _ source: UnsafePointer<CChar>?, _ length: Int32
    ) -> Int32 {
        unsafe openssl_bio_clear_retry(bio)
        guard let data = unsafe BIO_get_data(bio), let source = unsafe source, length > 0 else {
            return -1
        }
        return unsafe Unmanaged<TLSSession>.fromOpaque(data)._withUnsafeGuaranteedRef { session in
            guard let outgoing = session.outgoing, outgoing.room > 0 else {
                unsafe openssl_bio_set_retry_write(bio)
                return -1
            }
            let count = min(Int(length), outgoing.room)
            _ = unsafe outgoing.fill { space in
                unsafe space.baseAddress.unsafelyUnwrapped.copyMemory(
                    from: source, byteCount: count)
                return count
            }
            return Int32(count)
        }
    }
}
