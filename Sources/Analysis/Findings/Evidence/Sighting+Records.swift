internal import Base
internal import Contents
internal import Logins
internal import Traffic

extension Sighting {
    /// - Parameters:
    ///   - redaction: knows the secrets of the exchange.
    ///   - isProxy: whether it concerns the proxy that was asked, and not the origin.
    init(
        in view: ExchangeView, _ parties: Parties, _ redaction: EvidenceRedaction,
        isProxy: Bool = false
    ) {
        var (host, port) = (view.host, view.port)
        if isProxy, let connection = view.connection, connection.mode == .explicit {
            host = HostName(connection.listener)
            port = connection.listenerPort
        }
        self.init(
            party: parties.service(of: host, hiding: redaction),
            place: URLTemplate(
                scheme: view.exchange.scheme, host: host.bytes, port: port,
                path: isProxy ? [] : Array(view.target.path), redaction: redaction),
            method: MethodName(view.method), exchange: view.exchange.id,
            connection: view.exchange.connection, time: view.exchange.startedAt,
            isLocal: parties.isLocal(host, isImported: view.connection?.isImported ?? false))
    }

    /// - Parameters:
    ///   - protocolName: what is spoken, `nil` where that is HTTP or tells nothing.
    ///   - isSecured: whether TLS was around what was seen.
    ///   - isProxy: whether it concerns the proxy that was asked, and not the origin.
    init(
        on connection: ConnectionRecord, _ parties: Parties, _ redaction: EvidenceRedaction,
        protocolName: ProtocolName? = nil, isSecured: Bool = true, isProxy: Bool = false
    ) {
        let host = isProxy ? HostName(connection.listener) : connection.host
        let port = isProxy ? connection.listenerPort : connection.originPort
        let place =
            if let protocolName {
                URLTemplate(
                    dialogue: DialoguePlace(
                        protocolName: protocolName, port: port, isSecured: isSecured),
                    host: host.bytes, redaction: redaction)
            } else {
                URLTemplate(
                    scheme: isSecured ? .https : .http, host: host.bytes, port: port, path: nil,
                    redaction: redaction)
            }
        self.init(
            party: parties.service(of: host, hiding: redaction), place: place, method: nil,
            exchange: nil, connection: connection.id, time: connection.openedAt,
            isLocal: parties.isLocal(host, isImported: connection.isImported))
    }
}

extension Sighting {
    /// The same about another host, which nobody may have spoken to.
    func about(
        _ host: HostName, _ parties: Parties, _ redaction: EvidenceRedaction
    ) -> Sighting {
        Sighting(
            party: parties.service(of: host, hiding: redaction),
            place: URLTemplate(
                scheme: .https, host: host.bytes, port: 443, path: nil, redaction: redaction),
            method: nil, exchange: exchange, connection: connection, time: time, isLocal: false)
    }
}

extension ConnectionRecord {
    /// The port behind the listener's last colon, 0 if there is none.
    fileprivate var listenerPort: UInt16 {
        listener.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
    }
}
