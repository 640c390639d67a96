internal import Base
internal import Findings
internal import Traffic

/// Feeds a whole capture to the detectors.
enum CaptureInspection {
    /// How much of one content is looked into, in bytes, before decoding and after: credentials
    /// stand at the start of what carries them.
    static let contentLimit = 1024 * 1024

    /// Errors: those of reading the capture, and of the progress that is drawn meanwhile.
    static func report(
        on source: any TrafficSource, configuration: FindingsConfiguration,
        environment: Environment
    ) throws -> FindingsReport {
        var engine = FindingsEngine(configuration)
        var connections: [Int64: ConnectionRecord] = [:]
        var total: Int64 = 0
        try source.connections { record in
            try observe(record, in: source, &engine)
            connections[record.id] = record.withoutBulk
            total += record.exchangeCount
            return true
        }
        var progress = ProgressBar(
            "checking", total: total, on: environment.diagnostics, clock: environment.clock)
        var done: Int64 = 0
        try source.exchanges { exchange in
            engine.observe(
                exchange, on: connections[exchange.connection],
                requestBody: try content(of: exchange, .request, in: source),
                responseBody: try content(of: exchange, .response, in: source))
            done += 1
            try progress.advance(to: done)
            return true
        }
        try progress.finish()
        return engine.report()
    }

    /// Judges a connection with its messages, where they can show anything.
    private static func observe(
        _ connection: ConnectionRecord, in source: any TrafficSource,
        _ engine: inout FindingsEngine
    ) throws {
        guard engine.wantsMessages(of: connection) else { return engine.observe(connection) }
        var messages = GatheredMessages()
        try source.messages(ofConnection: connection.id, exchange: nil) { messages.add($0) }
        engine.observe(connection, messages: messages)
        for id in messages.exchanges {
            guard let exchange = try source.exchange(id) else { continue }
            engine.observe(messages, of: exchange, on: connection)
        }
    }

    /// The start of a content.
    private static func content(
        of exchange: ExchangeRecord, _ direction: Direction, in source: any TrafficSource
    ) throws -> [UInt8] {
        let body = direction == .request ? exchange.requestBody : exchange.responseBody
        guard body.size > 0 else { return [] }
        var content: [UInt8] = []
        try source.body(ofExchange: exchange.id, direction) { bytes in
            content += bytes.prefix(contentLimit - content.count)
            return content.count < contentLimit
        }
        return content
    }
}

extension ConnectionRecord {
    /// The connection as its exchanges need it: without what is large and was looked at already.
    fileprivate var withoutBulk: ConnectionRecord {
        var record = self
        record.clientTLS = record.clientTLS.map(\.withoutBulk)
        record.originTLS = record.originTLS.map(\.withoutBulk)
        return record
    }
}

extension TLSRecord {
    fileprivate var withoutBulk: TLSRecord {
        var record = self
        record.clientHello = []
        record.chain = []
        record.keyLog = []
        return record
    }
}
