internal import Base
internal import Contents
internal import HTTPModel
package import Traffic

/// An exchange as a filter sees it, with what was recorded in full.
package struct ExchangeSubject: FilterSubject {
    private let exchange: ExchangeRecord
    private let source: any FilterSource

    package init(_ exchange: ExchangeRecord, in source: any FilterSource) {
        self.exchange = exchange
        self.source = source
    }

    package func texts(of field: FilterField) throws -> [ArraySlice<UInt8>] {
        switch field {
        case .header(let name, _):
            return values(named: [UInt8](name.utf8), field.directions)
        case .bare: return [url[...]]
        case .named(let name): return try texts(of: name, field)
        }
    }

    package func numbers(of field: FilterField) throws -> [Int64] {
        guard case .named(let name) = field else { return [] }
        switch name {
        case .status: return exchange.status == 0 ? [] : [Int64(exchange.status)]
        case .size: return [exchange.responseBody.size]
        case .requestSize: return [exchange.requestBody.size]
        case .duration: return exchange.durationMicroseconds.map { [$0] } ?? []
        case .wait: return exchange.firstByteMicroseconds.map { [$0] } ?? []
        case .time: return [exchange.startedAt.microseconds]
        case .id: return [exchange.id]
        case .connection: return [exchange.connection]
        case .port:
            let standard: Int64 = exchange.scheme == .https ? 443 : 80
            return [HostPort(exchange.authority).map { Int64($0.port) } ?? standard]
        case .severity:
            return try source.findings(ofExchange: exchange.id).map(\.severity.number)
        default: return []
        }
    }

    package func content(
        _ direction: Direction, _ visit: (ArraySlice<UInt8>) throws -> Bool
    ) throws {
        let body = direction == .request ? exchange.requestBody : exchange.responseBody
        guard body.size > 0 || exchange.status == 101 || !upgrades.isEmpty else { return }
        try source.content(of: exchange, direction, visit)
    }

    private func texts(
        of name: FilterField.Name, _ field: FilterField
    ) throws -> [ArraySlice<UInt8>] {
        switch name {
        case .host: return hosts(of: exchange.authority)
        case .url: return [url[...]]
        case .path: return [target.prefix { $0 != UInt8(ascii: "?") }]
        case .query:
            return target.firstIndex(of: UInt8(ascii: "?")).map { [target[($0 + 1)...]] } ?? []
        case .method: return [RecordedHead(exchange.requestHead).method]
        case .scheme: return exchange.isHeadMissing ? [] : [bytes(exchange.scheme.rawValue)]
        case .protocolName: return [bytes(exchange.protocolName)]
        case .error: return exchange.error.map { [bytes($0)] } ?? []
        case .type, .requestType, .responseType:
            return values(named: Array("content-type".utf8), field.directions).flatMap { value in
                [value.prefix { $0 != UInt8(ascii: ";") }.trimmingWhitespace, value]
            }
        case .headers, .requestHeaders, .responseHeaders:
            return field.directions.flatMap { RecordedHead(head(of: $0)).lines }
        case .upgrade: return upgrades
        case .finding: return try source.findings(ofExchange: exchange.id).map { bytes($0.rule) }
        case .origin:
            let address = try source.connection(exchange.connection)?.originAddress
            return hosts(of: exchange.authority) + (address.map(hosts) ?? [])
        default:
            guard let connection = try source.connection(exchange.connection) else { return [] }
            return try ConnectionSubject(connection, in: source).texts(of: field)
        }
    }

    private func head(of direction: Direction) -> [UInt8] {
        direction == .request ? exchange.requestHead : exchange.responseHead
    }

    private func values(
        named lowercased: [UInt8], _ directions: [Direction]
    ) -> [ArraySlice<UInt8>] {
        directions.flatMap { RecordedHead(head(of: $0)).values(named: lowercased) }
    }

    /// What the exchange went over to: by 101, or by an extended CONNECT (RFC 8441).
    private var upgrades: [ArraySlice<UInt8>] {
        if exchange.status == 101 { return values(named: Array("upgrade".utf8), [.response]) }
        return RecordedHead(exchange.requestHead).values(named: ":protocol")
    }

    private var url: [UInt8] { exchange.url(RecordedHead(exchange.requestHead)) }

    /// The URL from the path on.
    private var target: ArraySlice<UInt8> {
        let url = RecordedURL(url)
        return url.scheme.isEmpty ? url.authority + url.target : url.target
    }
}

/// A connection as a filter sees it.
package struct ConnectionSubject: FilterSubject {
    private let record: ConnectionRecord
    private let source: any FilterSource

    package init(_ record: ConnectionRecord, in source: any FilterSource) {
        self.record = record
        self.source = source
    }

    package func texts(of field: FilterField) throws -> [ArraySlice<UInt8>] {
        let tls = record.clientTLS
        switch field {
        case .bare: return texts([record.origin, tls?.sni, record.originHost, record.cause])
        case .header: return []
        case .named(let name):
            switch name {
            case .host: return hosts(of: record.origin) + texts([record.originHost])
            case .client: return hosts(of: record.client)
            case .listener: return hosts(of: record.listener)
            case .origin: return hosts(of: record.origin) + hosts(of: record.originAddress ?? "")
            case .protocolName: return texts([record.protocolName])
            case .mode: return texts([record.mode.rawValue])
            case .error: return texts([record.cause])
            case .outcome: return texts([record.outcome.rawValue])
            case .sni: return texts([tls?.sni])
            case .alpn: return texts([tls?.alpn])
            case .tls: return texts([tls?.version])
            case .cipher: return texts([tls?.cipher])
            case .ja3: return texts([tls?.ja3])
            case .ja4: return texts([tls?.ja4])
            case .alert: return texts([record.alert?.name])
            case .process: return texts([record.processName, record.process?.executable])
            case .upgrade: return texts([record.upgrade])
            case .note: return texts(record.notes.map(\.code))
            case .finding:
                return try source.findings(ofConnection: record.id).map { bytes($0.rule) }
            default: return []
            }
        }
    }

    package func numbers(of field: FilterField) throws -> [Int64] {
        guard case .named(let name) = field else { return [] }
        switch name {
        case .size:
            let count = record.clientBytes
            return [count.received.addingSaturated(count.sent)]
        case .messages: return [record.messageCount]
        case .exchanges: return [record.exchangeCount]
        case .duration:
            return record.closedAt.map { [$0.microseconds(since: record.openedAt)] } ?? []
        case .time: return [record.openedAt.microseconds]
        case .id, .connection: return [record.id]
        case .port: return record.originPort == 0 ? [] : [Int64(record.originPort)]
        case .severity:
            return try source.findings(ofConnection: record.id).map(\.severity.number)
        default: return []
        }
    }

    package func content(_: Direction, _: (ArraySlice<UInt8>) throws -> Bool) {}

    private func texts(_ values: [String?]) -> [ArraySlice<UInt8>] {
        values.compactMap { $0 }.filter { !$0.isEmpty }.map(bytes)
    }
}

/// A message as a filter sees it.
package struct MessageSubject: FilterSubject {
    private let first: MessageRecord
    private let size: Int64
    private let detail: String
    private let recorded: [UInt8]

    /// - Parameters:
    ///   - first: its first part.
    ///   - recorded: the start of its content.
    package init(_ first: MessageRecord, size: Int64, detail: String, recorded: [UInt8]) {
        self.first = first
        self.size = size
        self.detail = detail
        self.recorded = recorded
    }

    package func texts(of field: FilterField) -> [ArraySlice<UInt8>] {
        switch field {
        case .bare: [recorded[...]]
        case .named(.kind): [bytes(first.kind.rawValue)]
        case .named(.direction):
            first.direction == .request
                ? ["request", "client"].map(bytes) : ["response", "origin"].map(bytes)
        case .named(.detail): detail.isEmpty ? [] : [bytes(detail)]
        default: []
        }
    }

    package func numbers(of field: FilterField) -> [Int64] {
        switch field {
        case .named(.size): [size]
        case .named(.id): [first.number]
        case .named(.time): [first.at.microseconds]
        case .named(.exchange): first.exchange.map { [$0] } ?? []
        default: []
        }
    }

    package func content(
        _ direction: Direction, _ visit: (ArraySlice<UInt8>) throws -> Bool
    ) throws {
        if direction == first.direction { _ = try visit(recorded[...]) }
    }
}

extension Severity {
    /// Rises with the severity.
    var number: Int64 { Int64(Severity.allCases.firstIndex(of: self) ?? 0) }
}

private func bytes(_ text: String) -> ArraySlice<UInt8> { [UInt8](text.utf8)[...] }

/// An authority or address with its port and without, brackets included; none if it is empty.
private func hosts(of authority: String) -> [ArraySlice<UInt8>] {
    guard !authority.isEmpty else { return [] }
    guard let parts = HostPort(authority) else { return [bytes(authority)] }
    return [bytes(authority), bytes(parts.host)]
}
