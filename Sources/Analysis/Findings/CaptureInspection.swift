internal import Base
internal import Logins
package import Traffic

/// Which records of a capture are judged.
package protocol CaptureSelection {
    func accepts(_ connection: ConnectionRecord) throws -> Bool
    func accepts(_ exchange: ExchangeRecord) throws -> Bool
}

/// Feeds a whole capture to the detectors.
package enum CaptureInspection {
    /// How much of one content is looked into, in bytes, before decoding and after: credentials
    /// stand at the start of what carries them.
    package static let contentLimit = 1024 * 1024

    /// A record that was judged.
    package enum Place: Hashable {
        case connection(Int64)
        case exchange(Int64)
    }

    /// Judges all records, or those of a selection.
    ///
    /// - Parameters:
    ///   - progress: told how many exchanges of how many were passed; all of them at the end.
    ///   - visit: told what each record showed.
    ///
    /// Errors: those of reading the capture, of the selection and of `progress`.
    package static func report(
        on source: any TrafficSource, configuration: FindingsConfiguration,
        selection: (any CaptureSelection)? = nil,
        progress: (_ done: Int64, _ total: Int64) throws -> Void = { _, _ in },
        visit: (Place, [Finding]) -> Void = { _, _ in }
    ) throws -> FindingsReport {
        var engine = FindingsEngine(configuration)
        var total: Int64 = 0
        var leavesOut = false
        try source.connections { record in
            if try selection?.accepts(record) ?? true {
                try observe(record, in: source, &engine, visit)
            } else {
                leavesOut = true
            }
            total = total.addingSaturated(record.exchangeCount)
            return true
        }
        let digests = try ResponseDigests(source)
        var connections = RecentConnections()
        var done: Int64 = 0
        try source.exchanges { exchange in
            if try selection?.accepts(exchange) ?? true {
                let found = engine.observe(
                    exchange, on: try connections.record(exchange.connection, in: source),
                    requestBody: try content(of: exchange, .request, in: source),
                    responseBody: try content(of: exchange, .response, in: source),
                    responseDigest: digests.ofExchange[exchange.id])
                visit(.exchange(exchange.id), found)
            } else {
                leavesOut = true
            }
            done += 1
            try progress(done, total)
            return true
        }
        try progress(total, total)
        return engine.report(leavesOut: leavesOut)
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

/// Short digests of the contents of responses, as the source knows them.
private struct ResponseDigests {
    private(set) var ofExchange: [Int64: UInt64] = [:]

    init(_ source: any TrafficSource) throws {
        try source.contentDigests { digest in
            guard digest.direction == .response else { return true }
            let start = digest.bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            // The digests of a content's parts, in their order, make one of all.
            let before = ofExchange[digest.exchange] ?? 0
            ofExchange[digest.exchange] = before &* 0x0000_0100_0000_01B3 ^ start
            return ofExchange.count < Self.countLimit
        }
    }

    /// How many exchanges are looked at, of about 40 bytes each.
    private static let countLimit = 1 << 20
}
