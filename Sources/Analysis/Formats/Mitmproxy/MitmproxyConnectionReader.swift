internal import Base
internal import Traffic

/// Makes a connection out of the two legs of a flow, in the words of any version.
struct MitmproxyConnectionReader {
    private let flow: MitmproxyFlowReader
    private let client: TnetstringValue
    private let server: TnetstringValue

    init(_ flow: MitmproxyFlowReader) {
        self.flow = flow
        client = flow.value["client_conn"] ?? .null
        server = flow.value["server_conn"] ?? .null
    }

    /// The connection as our own export kept it, or what the legs tell of it.
    func record(id: Int64) -> (record: ConnectionRecord, isNative: Bool) {
        let kept = flow.extras("connection").flatMap { HARConnectionReader.record($0, id: id) }
        if var record = kept {
            record.exchangeCount = 0
            record.messageCount = 0
            return (record, true)
        }
        return (guessed(id: id), false)
    }

    private func guessed(id: Int64) -> ConnectionRecord {
        // Up to version 18, the client's address has another name.
        let peer = Self.address(client["peername"] ?? client["address"])
        var record = ConnectionRecord(
            id: id, openedAt: client["timestamp_start"]?.moment ?? flow.createdAt,
            client: peer ?? HARConnectionReader.unknownAddress,
            listener: Self.address(client["sockname"]) ?? HARConnectionReader.unknownAddress,
            mode: mode)
        record.closedAt = client["timestamp_end"]?.moment
        if let parts = server["address"]?.elements, parts.count >= 2 {
            record.originHost = parts[0].text ?? ""
            record.originPort = UInt16(clamping: parts[1].integer ?? 0)
        } else if let host = flow.value["request"]?["host"]?.text {
            record.originHost = host
            record.originPort = UInt16(clamping: flow.value["request"]?["port"]?.integer ?? 0)
        }
        record.originAddress = Self.address(server["peername"] ?? server["ip_address"])
        record.clientTLS = tls(client)
        if let leaf = client["mitmcert"]?.bytes.flatMap(PEMText.decode) {
            record.clientTLS?.chain = [leaf]
        }
        record.originTLS = tls(server)
        if record.originTLS != nil { record.originTLS?.chain = Self.certificates(server) }
        record.outcome = .completed
        record.notes = [
            ConnectionNote(.imported, "guessed from a dump of mitmproxy")
        ]
        return record
    }

    private var mode: ConnectionRecord.Mode {
        let word = client["proxy_mode"]?.text ?? flow.value["mode"]?.text ?? ""
        switch word.prefix(while: { $0 != ":" && $0 != "@" }) {
        case "socks5": return .socks
        case "reverse": return .reverse
        case "transparent": return .transparent
        case "wireguard", "local", "tun": return .captured
        default: return .explicit
        }
    }

    private func tls(_ leg: TnetstringValue) -> TLSRecord? {
        guard (leg["tls"] ?? leg["tls_established"])?.isTrue ?? false else { return nil }
        var record = TLSRecord()
        record.version = leg["tls_version"]?.text
        record.cipher = (leg["cipher"] ?? leg["cipher_name"])?.text
        record.alpn = (leg["alpn"] ?? leg["alpn_proto_negotiated"])?.text
        // Once, the origin's could be just true.
        record.sni = leg["sni"]?.text ?? (leg["sni"]?.isTrue == true ? originName : nil)
        record.handshakeCompleted =
            leg["timestamp_tls_setup"] != nil || leg["tls_established"]?.isTrue ?? false
        return record
    }

    private var originName: String? { server["address"]?.elements.first?.text }

    private static func certificates(_ leg: TnetstringValue) -> [[UInt8]] {
        let texts = leg["certificate_list"]?.elements ?? [leg["cert"]].compactMap(\.self)
        return texts.compactMap { $0.bytes.flatMap(PEMText.decode) }
    }

    /// `[address, port, …]`; `nil` for what is none.
    private static func address(_ value: TnetstringValue?) -> String? {
        guard let parts = value?.elements, parts.count >= 2, let host = parts[0].text,
            !host.isEmpty, let port = parts[1].integer
        else { return nil }
        return HostPort(host: host, port: UInt16(clamping: port)).description
    }
}
