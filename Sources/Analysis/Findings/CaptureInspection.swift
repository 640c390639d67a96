internal import Base
internal import Findings
internal import Traffic

/// Feeds a whole capture to the detectors.
enum CaptureInspection {
    /// How much of one content is looked into, in bytes, before decoding and after: credentials
    /// stand at the start of what carries them.
    static let contentLimit = 1024 * 1024

    /// A record that was judged.
    enum Place: Hashable {
        case connection(Int64)
        case exchange(Int64)
    }

    /// Judges all records, or those that a filter accepts.
    ///
    /// - Parameter visit: told what each record showed.
    ///
    /// Errors: those of reading the capture, and of the progress that is drawn meanwhile.
    static func report(
        on source: any TrafficSource, configuration: FindingsConfiguration,
        filter: CaptureFilter? = nil, environment: Environment,
        visit: (Place, [Finding]) -> Void = { _, _ in }
    ) throws -> FindingsReport {
        var engine = FindingsEngine(configuration)
        var connections: [Int64: ConnectionRecord] = [:]
        var total: Int64 = 0
        try source.connections { record in
            if try filter?.accepts(record) ?? true {
                try observe(record, in: source, &engine, visit)
            }
            connections[record.id] = record.withoutBulk
            total = total.addingSaturated(record.exchangeCount)
            return true
        }
        var progress = ProgressBar(
            "checking", total: total, on: environment.diagnostics, clock: environment.clock)
        var done: Int64 = 0
        try source.exchanges { exchange in
            if try filter?.accepts(exchange) ?? true {
                let found = engine.observe(
                    exchange, on: connections[exchange.connection],
                    requestBody: try content(of: exchange, .request, in: source),
                    responseBody: try content(of: exchange, .response, in: source))
                visit(.exchange(exchange.id), found)
            }
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
        _ engine: inout FindingsEngine, _ visit: (Place, [Finding]) -> Void
    ) throws {
        let place = Place.connection(connection.id)
        guard engine.wantsMessages(of: connection) else {
            return visit(place, engine.observe(connection))
        }
        var messages = GatheredMessages()
        try source.messages(ofConnection: connection.id, exchange: nil) { messages.add($0) }
        visit(place, engine.observe(connection, messages: messages))
        for id in messages.exchanges {
            guard let exchange = try source.exchange(id) else { continue }
            visit(.exchange(id), engine.observe(messages, of: exchange, on: connection))
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
