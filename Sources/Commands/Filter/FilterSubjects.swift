internal import Base
internal import HTTPModel
internal import Traffic

/// An exchange as a filter sees it, with what was recorded in full.
struct ExchangeSubject: FilterSubject {
    let exchange: ExchangeRecord
    let client: String

    func texts(of field: FilterField) -> [String] {
        switch field {
        case .header(let name):
            return [exchange.requestHead, exchange.responseHead].flatMap { bytes in
                RecordedHead(bytes).values(named: [UInt8](name.utf8)).map(\.text)
            }
        case .bare: return [url]
        case .named(let name): return texts(of: name)
        }
    }

    func number(of field: FilterField) -> Int64? {
        switch field {
        case .named(.status): exchange.status == 0 ? nil : Int64(exchange.status)
        case .named(.size): exchange.responseBody.size
        case .named(.requestSize): exchange.requestBody.size
        case .named(.duration): exchange.durationMicroseconds
        case .named(.id): exchange.id
        default: nil
        }
    }

    private func texts(of name: FilterField.Name) -> [String] {
        switch name {
        case .host: hosts(of: exchange.authority)
        case .url: [url]
        case .path: [path]
        case .method: [RecordedHead(exchange.requestHead).method.text]
        case .scheme: [exchange.scheme.rawValue]
        case .client: client.isEmpty ? [] : hosts(of: client)
        case .protocolName: [exchange.protocolName]
        case .error: exchange.error.map { [$0] } ?? []
        default: []
        }
    }

    private var url: String {
        exchange.url(RecordedHead(exchange.requestHead)).text
    }

    /// The target from the path on, without its query.
    private var path: String {
        var rest = exchange.url(RecordedHead(exchange.requestHead))[...]
        if let scheme = rest.firstIndex(of: UInt8(ascii: ":")),
            rest[(scheme + 1)...].starts(with: Array("//".utf8))
        {
            rest = rest[(scheme + 3)...].drop { $0 != UInt8(ascii: "/") }
        }
        return rest.prefix { $0 != UInt8(ascii: "?") }.text
    }
}

/// A connection as a filter sees it.
struct ConnectionSubject: FilterSubject {
    let record: ConnectionRecord

    func texts(of field: FilterField) -> [String] {
        let summary = ConnectionSummary(record)
        let tls = record.clientTLS
        let values: [String?]
        switch field {
        case .bare: values = [summary.origin, tls?.sni, record.originHost, record.cause]
        case .named(.host): values = hosts(of: summary.origin) + [record.originHost]
        case .named(.client): values = hosts(of: record.client)
        case .named(.listener): values = hosts(of: record.listener)
        case .named(.protocolName): values = [record.protocolName]
        case .named(.error): values = [record.cause]
        case .named(.outcome): values = [record.outcome.rawValue]
        case .named(.sni): values = [tls?.sni]
        case .named(.alpn): values = [tls?.alpn]
        case .named(.tls): values = [tls?.version]
        case .named(.cipher): values = [tls?.cipher]
        case .named(.alert): values = [summary.alert?.name]
        case .named(.process): values = [summary.processName, record.process?.executable]
        case .named(.upgrade): values = [record.upgrade]
        case .named(.note): values = record.notes.map(\.code)
        default: values = []
        }
        return values.compactMap { $0 }.filter { !$0.isEmpty }
    }

    func number(of field: FilterField) -> Int64? {
        switch field {
        case .named(.size):
            record.clientBytes.received.addingReportingOverflow(record.clientBytes.sent)
                .partialValue
        case .named(.messages): record.messageCount
        case .named(.duration): record.closedAt.map { $0.microseconds(since: record.openedAt) }
        case .named(.id): record.id
        default: nil
        }
    }
}

/// An authority or address with its port and without, brackets included.
private func hosts(of authority: String) -> [String] {
    guard let parts = HostPort(authority) else { return [authority] }
    return [authority, parts.host]
}
