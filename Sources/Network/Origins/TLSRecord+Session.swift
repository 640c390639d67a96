package import TLS
package import Traffic

extension TLSRecord {
    /// What a session knows, whether its handshake was done or not.
    package init(_ session: TLSSession, serverName: String?) {
        self.init()
        sni = serverName
        handshakeCompleted = session.isHandshakeDone
        if session.isHandshakeDone {
            let parameters = session.parameters
            version = parameters.version
            cipher = parameters.cipher
            alpn = parameters.alpn
            resumed = parameters.isResumed
            chain = session.peerChain
            verifyError = session.verifyError
        }
        clientChain = session.clientChain
        keyLog = session.takeKeyLog()
        noteAlerts(of: session)
    }

    package mutating func noteAlerts(of session: TLSSession) {
        alerts = session.alerts.map { entry in
            AlertRecord(
                sender: entry.isOurs ? .tool : .peer, fatal: entry.alert.isFatal,
                name: entry.alert.name)
        }
    }
}
