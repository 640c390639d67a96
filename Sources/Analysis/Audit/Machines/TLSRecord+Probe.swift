internal import TLS
internal import Traffic

extension TLSRecord {
    /// What is known of a probe's server.
    ///
    /// - Parameter chain: what was shown; `nil` if nothing was.
    init(
        of hello: ClientHello, _ session: TLSSession?, keyLog: [String], chain: PresentedChain?
    ) {
        self.init()
        clientHello = hello.raw
        sni = hello.serverName
        ja3 = hello.ja3(md5: Digests.md5)
        ja4 = hello.ja4(sha256: Digests.sha256)
        self.keyLog = keyLog
        self.chain = chain?.certificates.map(\.der) ?? []
        guard let session else { return }
        alerts = session.alerts.map { entry in
            AlertRecord(
                sender: entry.isOurs ? .tool : .peer, fatal: entry.alert.isFatal,
                name: entry.alert.name)
        }
        guard session.isHandshakeDone else { return }
        handshakeCompleted = true
        let parameters = session.parameters
        version = parameters.version
        cipher = parameters.cipher
        alpn = parameters.alpn
        resumed = parameters.isResumed
    }
}
