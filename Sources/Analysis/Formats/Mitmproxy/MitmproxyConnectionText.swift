internal import Base
internal import Traffic

/// A connection as a flow has it: of two legs.
struct MitmproxyConnectionText {
    let number: Int64
    let client: TnetstringText
    let server: TnetstringText
    private let record: ConnectionRecord?
    private let withSecrets: Bool
    let failure: TnetstringText
    /// Whether a certificate is left out: mitmproxy reads no flow that has a broken one.
    let hasBrokenCertificate: Bool
    let hasKeys: Bool

    init(_ record: ConnectionRecord, withSecrets: Bool) {
        let leaf = record.clientTLS?.chain.first
        let chain = record.originTLS?.chain ?? []
        let whole = chain.filter(PEMText.isCertificate)
        let isLeafWhole = leaf.map(PEMText.isCertificate) ?? true
        number = record.id
        client = Self.client(record, leaf: isLeafWhole ? leaf : nil)
        server = Self.server(record, chain: whole)
        self.record = record
        self.withSecrets = withSecrets
        failure = Self.failure(record)
        hasBrokenCertificate = whole.count < chain.count || !isLeafWhole
        hasKeys =
            !(record.clientTLS?.keyLog.isEmpty ?? true)
            || !(record.originTLS?.keyLog.isEmpty ?? true)
    }

    /// A connection that the capture has no record of.
    init(of exchange: ExchangeRecord) {
        var record = ConnectionRecord(
            id: exchange.connection, openedAt: exchange.startedAt,
            client: HARConnectionReader.unknownAddress,
            listener: HARConnectionReader.unknownAddress, mode: .explicit)
        let (host, port) = HARConnectionText.split(exchange.authority)
        record.originHost = host
        record.originPort = port ?? (exchange.scheme == .https ? 443 : 80)
        number = exchange.connection
        client = Self.client(record, leaf: nil)
        server = Self.server(record, chain: [])
        self.record = nil
        withSecrets = false
        failure = .null
        hasBrokenCertificate = false
        hasKeys = false
    }

    /// Everything that is known of it, as our own exports keep it.
    var extras: TnetstringText? {
        record.map { record in
            .string(HARConnectionText(record: record, withSecrets: withSecrets).json.line.text)
        }
    }

    private static func client(_ record: ConnectionRecord, leaf: [UInt8]?) -> TnetstringText {
        let id = MitmproxyIdentifier.text(.client, record.id, record.openedAt)
        let members = leg(record, record.clientTLS, id: id, opened: record.openedAt)
        return .dictionary(
            members + [
                ("peername", address(record.client)),
                ("sockname", address(record.listener)),
                ("certificate_list", .list([])),
                ("mitmcert", leaf.map { .bytes(PEMText.encode($0)) } ?? .null),
                ("proxy_mode", .string(mode(record))),
            ])
    }

    private static func server(
        _ record: ConnectionRecord, chain: [[UInt8]]
    ) -> TnetstringText {
        let id = MitmproxyIdentifier.text(.origin, record.id, record.openedAt)
        let opened = record.originAddress == nil ? nil : record.openedAt
        let members = leg(record, record.originTLS, id: id, opened: opened)
        let origin: TnetstringText =
            record.originHost.isEmpty
            ? .null : .list([.string(record.originHost), .integer(Int64(record.originPort))])
        return .dictionary(
            members + [
                ("address", origin),
                ("peername", record.originAddress.map(address) ?? .null),
                ("sockname", .null),
                ("certificate_list", .list(chain.map { .bytes(PEMText.encode($0)) })),
                ("timestamp_tcp_setup", opened.map { .seconds($0.microseconds) } ?? .null),
                ("via", .null),
            ])
    }

    /// What both legs have.
    ///
    /// When TLS was set up is not recorded; mitmproxy takes a leg for set up that has a time for
    /// it, so the leg's start stands there.
    private static func leg(
        _ record: ConnectionRecord, _ tls: TLSRecord?, id: String, opened: Timestamp?
    ) -> [(name: String, value: TnetstringText)] {
        let time: (Timestamp?) -> TnetstringText = {
            $0.map { .seconds($0.microseconds) } ?? .null
        }
        let isSetUp = tls?.handshakeCompleted ?? false
        return [
            ("id", .string(id)),
            ("transport_protocol", .string("tcp")),
            ("error", .null),
            ("tls", .boolean(tls != nil)),
            ("alpn", tls?.alpn.map { .bytes(Array($0.utf8)) } ?? .null),
            ("alpn_offers", .list([])),
            ("cipher", .optional(tls?.cipher)),
            ("cipher_list", .list([])),
            ("tls_version", .optional(tls?.version.flatMap { versions.contains($0) ? $0 : nil })),
            ("sni", .optional(tls?.sni)),
            ("timestamp_start", time(opened)),
            ("timestamp_end", time(opened == nil ? nil : record.closedAt)),
            ("timestamp_tls_setup", time(isSetUp ? opened ?? record.openedAt : nil)),
        ]
    }

    private static func address(_ peer: String) -> TnetstringText {
        let (address, port) = HARConnectionText.split(peer)
        return .list([.string(address), .integer(Int64(port ?? 0))])
    }

    private static func mode(_ record: ConnectionRecord) -> String {
        switch record.mode {
        case .explicit: return "regular"
        case .socks: return "socks5"
        case .transparent, .captured: return "transparent"
        case .reverse:
            // mitmproxy reads no flow whose mode names a host that can be none.
            guard isPlainName(record.originHost), record.originPort > 0 else { return "regular" }
            let scheme = record.originTLS == nil ? "http" : "https"
            return "reverse:\(scheme)://\(record.originHost):\(record.originPort)"
        }
    }

    private static func isPlainName(_ host: String) -> Bool {
        let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return host.utf8.count < 254
            && labels.allSatisfy { label in
                1...63 ~= label.count && label.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit }
            }
    }

    private static func failure(_ record: ConnectionRecord) -> TnetstringText {
        guard !record.cause.isEmpty, record.outcome != .completed else { return .null }
        let time = record.closedAt ?? record.openedAt
        return .dictionary([
            ("msg", .string(record.cause)), ("timestamp", .seconds(time.microseconds)),
        ])
    }

    private static let versions: Set<String> = ["SSLv3", "TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"]
}
