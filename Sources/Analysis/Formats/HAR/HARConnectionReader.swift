internal import Base
internal import Traffic

/// Makes connections out of what a HAR tells of them.
enum HARConnectionReader {
    /// A connection as our own exports keep it; `nil` if it is not one.
    static func record(_ node: JSONNode, id: Int64) -> ConnectionRecord? {
        guard let opened = node["openedUs"]?.moment, let client = node["client"]?.text,
            let listener = node["listener"]?.text,
            let mode = node["mode"]?.text.flatMap(ConnectionRecord.Mode.init(rawValue:))
        else { return nil }
        var record = ConnectionRecord(
            id: id, openedAt: opened, client: client, listener: listener,
            mode: mode)
        record.closedAt = node["closedUs"]?.moment
        record.originHost = node["host"]?.text ?? ""
        record.originPort = UInt16(clamping: node["port"]?.integer ?? 0)
        record.originAddress = node["originAddress"]?.text
        record.originReused = node["originReused"]?.isTrue ?? false
        record.clientBytes = count(node["clientBytes"])
        record.originBytes = count(node["originBytes"])
        record.protocolName = node["protocol"]?.text ?? ""
        record.exchangeCount = node["exchanges"]?.count ?? 0
        record.messageCount = node["messages"]?.count ?? 0
        record.upgrade = node["upgrade"]?.text
        record.outcome =
            node["outcome"]?.text.flatMap(ConnectionRecord.Outcome.init(rawValue:)) ?? .lost
        record.cause = node["cause"]?.text ?? ""
        record.closedBy = node["closedBy"]?.text.flatMap(ConnectionRecord.Side.init(rawValue:))
        record.process = node["process"].map(process)
        record.notes = (node["notes"]?.elements ?? []).map {
            ConnectionNote($0["code"]?.text ?? "", $0["detail"]?.text ?? "")
        }
        record.clientTLS = node["clientTLS"].map(tls)
        record.originTLS = node["originTLS"].map(tls)
        return record
    }

    private static func count(_ node: JSONNode?) -> ByteCount {
        let numbers = (node?.elements ?? []).map { $0.count ?? 0 }
        guard numbers.count == 2 else { return ByteCount() }
        return ByteCount(received: numbers[0], sent: numbers[1])
    }

    private static func process(_ node: JSONNode) -> ProcessRecord {
        ProcessRecord(
            id: Int32(clamping: node["id"]?.integer ?? 0),
            executable: node["executable"]?.text ?? "",
            commandLine: (node["arguments"]?.elements ?? []).map { $0.text ?? "" })
    }

    private static func tls(_ node: JSONNode) -> TLSRecord {
        var record = TLSRecord()
        record.version = node["version"]?.text
        record.cipher = node["cipher"]?.text
        record.alpn = node["alpn"]?.text
        record.sni = node["sni"]?.text
        record.ja3 = node["ja3"]?.text
        record.ja4 = node["ja4"]?.text
        record.resumed = node["resumed"]?.isTrue ?? false
        record.handshakeCompleted = node["completed"]?.isTrue ?? false
        record.verifyError = node["verifyError"]?.text
        record.clientHello = node["clientHello"]?.base64 ?? []
        record.chain = (node["chain"]?.elements ?? []).compactMap(\.base64)
        record.clientChain = (node["clientChain"]?.elements ?? []).compactMap(\.base64)
        record.keyLog = (node["keyLog"]?.elements ?? []).compactMap(\.text)
        record.alerts = (node["alerts"]?.elements ?? []).compactMap { alert in
            guard let sender = alert["sender"]?.text.flatMap(AlertRecord.Sender.init(rawValue:))
            else { return nil }
            return AlertRecord(
                sender: sender, fatal: alert["fatal"]?.isTrue ?? false,
                name: alert["name"]?.text ?? "")
        }
        return record
    }

    /// A handshake that failed, as HTTP Toolkit tells of it.
    static func failedHandshake(_ node: JSONNode, id: Int64) -> ConnectionRecord? {
        guard let start = node["startedDateTime"]?.bytes.flatMap(Timestamp.init(iso8601:)) else {
            return nil
        }
        let address = node["clientIPAddress"]?.text ?? "127.0.0.1"
        let port = node["clientPort"]?.integer ?? 0
        let client = "\(HostPort.bracketed(address)):\(port)"
        var record = ConnectionRecord(
            id: id, openedAt: start, client: client, listener: unknownAddress, mode: .explicit)
        let microseconds = Int64(clamping: node["time"]?.double, thousandths: 1000)
        record.closedAt = Timestamp(recorded: start.microseconds &+ microseconds)
        record.originHost = node["hostname"]?.text ?? ""
        record.protocolName = "tls"
        let cause = node["cause"]?.text ?? "unknown"
        record.outcome = cause == "cert-rejected" ? .clientRefused : .clientHandshakeFailed
        record.cause = "the TLS handshake failed: \(cause)"
        var tls = TLSRecord()
        let facts = node["tlsMetadata"]
        tls.sni = facts?["sniHostname"]?.text ?? node["hostname"]?.text
        tls.ja3 = facts?["ja3Fingerprint"]?.text
        tls.ja4 = facts?["ja4Fingerprint"]?.text
        record.clientTLS = tls
        return record
    }

    /// For an address that no HAR tells.
    static let unknownAddress = "127.0.0.1:0"
}

extension JSONNode {
    /// What a base64 string stands for.
    var base64: [UInt8]? { bytes.flatMap { Base64.decode($0) } }
}

extension Int64 {
    /// A number of milliseconds as microseconds; what is missing, negative or absurd counts as 0.
    init(clamping milliseconds: Double?, thousandths: Double) {
        let value = ((milliseconds ?? 0) * thousandths).rounded()
        self = value > 0 && value < 1e17 ? Int64(value) : 0
    }
}
