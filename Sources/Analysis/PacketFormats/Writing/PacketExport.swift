internal import Base
internal import Contents
package import Formats
internal import Redaction
package import Traffic

/// Writes a capture as a pcapng file.
package struct PacketExporter: CaptureExporter {
    package init() {}

    package func export(
        _ source: any TrafficSource, _ options: ExportOptions,
        to output: @escaping ([UInt8]) throws -> Void
    ) throws -> LossReport {
        let export = PacketExport(source, options, output: output)
        try export.run()
        return export.losses
    }
}

/// Writes a capture as a pcapng file: what was said as if its packets had been caught.
///
/// - Captures hold no packets, so all of them are made: TCP without losses, and TLS anew under the
///   recorded secrets, so that each leg can be decrypted with the key log that the file carries.
/// - Three interfaces: `client-leg`, `server-leg`, and `decrypted` with the plain content of what
///   was in TLS.
/// - Packets come in the order of time, but for messages and the ends of long contents.
/// - In memory are the open connections with the exchanges that go on, and no content.
final class PacketExport {
    private let source: any TrafficSource
    private let options: ExportOptions
    private let isRedacted: Bool
    /// Those of which an exchange is wanted; `nil` for all.
    private var wanted: Set<Int64>?
    private var passed: Int64 = 0
    private var file: PacketFileWriter
    private var connections: RecordPages<ConnectionRecord>
    private var exchanges: RecordPages<ExchangeRecord>
    private var open: [Int64: ConnectionScript] = [:]
    private var schedule = ExportSchedule()
    private(set) var losses = LossReport()

    /// - Parameter output: takes the file, piece by piece.
    init(
        _ source: any TrafficSource, _ options: ExportOptions,
        output: @escaping ([UInt8]) throws -> Void
    ) {
        self.source = source
        self.options = options
        isRedacted = !options.withSecrets
        file = PacketFileWriter(output)
        connections = RecordPages(id: \.id) { try source.connections(from: $0, $1) }
        exchanges = RecordPages(id: \.id) { try source.exchanges(from: $0, $1) }
    }

    func run() throws {
        losses.note(.packetsMade, "every packet")
        try findWanted()
        try writePrelude()
        while let step = try nextStep() {
            switch step {
            case .connection: if let record = try connections.next() { try begin(record) }
            case .exchange: if let record = try exchanges.next() { try consider(record) }
            case .scheduled:
                if let event = schedule.pop() { try perform(event) }
            }
        }
        try file.flush()
    }

    private func findWanted() throws {
        guard let includes = options.includes else { return }
        var found: Set<Int64> = []
        try source.exchanges { record in
            if try includes(record) { found.insert(record.connection) }
            return true
        }
        wanted = found
    }

    // MARK: Order

    private enum Step {
        case connection
        case exchange
        case scheduled
    }

    /// What comes next in time; a connection always before its exchanges.
    private func nextStep() throws -> Step? {
        let connection = try connections.first()
        let exchange = try exchanges.first()
        let moments: [(Timestamp, Step)] = [
            connection.map { ($0.openedAt, .connection) },
            schedule.first.map { ($0.time, .scheduled) },
            exchange.map { ($0.startedAt, .exchange) },
        ].compactMap { $0 }
        guard let soonest = moments.map(\.0).min(),
            let step = moments.first(where: { $0.0 == soonest })?.1
        else { return nil }
        if step == .exchange, let connection, let exchange, connection.id <= exchange.connection {
            return .connection
        }
        return step
    }

    private func begin(_ record: ConnectionRecord) throws {
        guard wanted?.contains(record.id) ?? true else { return }
        let script = ConnectionScript(record, isRedacted: isRedacted)
        try script.open(&file)
        open[record.id] = script
        for loss in script.losses { losses.note(loss, "connection \(record.id)") }
        schedule.add(record.closedAt ?? .distantFuture, .close(record.id))
    }

    private func consider(_ record: ExchangeRecord) throws {
        passed += 1
        if try options.includes?(record) ?? true { try begin(record) }
        try options.progress(passed)
    }

    private func begin(_ recorded: ExchangeRecord) throws {
        guard let script = open[recorded.connection] else {
            return losses.note(.withoutConnection, "exchange \(recorded.id)")
        }
        let record = isRedacted ? recorded.redacted : recorded
        if isRedacted { losses.note(.contentLeftOut, "exchange \(record.id)") }
        if record.requestBody.isTruncated || record.responseBody.isTruncated {
            losses.note(.contentCut, "exchange \(record.id)")
        }
        script.openExchanges += 1
        let start = record.startedAt
        try write(.request, record, to: script, start)
        let end = start.advanced(
            byMicroseconds: record.durationMicroseconds ?? record.firstByteMicroseconds ?? 0)
        schedule.add(min(record.firstByteAt, end), .head(record))
        schedule.add(end, .end(record))
    }

    private func perform(_ event: ExportSchedule.Event) throws {
        switch event.action {
        case .head(let record):
            guard let script = open[record.connection] else { return }
            try write(.head, record, to: script, event.time)
        case .end(let record):
            guard let script = open[record.connection] else { return }
            try write(.end, record, to: script, event.time)
            script.openExchanges -= 1
            if script.isCloseDue, script.openExchanges == 0 { try close(script, event.time) }
        case .close(let id):
            guard let script = open[id] else { return }
            script.isCloseDue = true
            if script.openExchanges == 0 { try close(script, event.time) }
        }
    }

    private func close(_ script: ConnectionScript, _ time: Timestamp) throws {
        let record = script.record
        if !isRedacted, options.includes == nil, record.messageCount > 0 {
            try source.messages(ofConnection: record.id, exchange: nil) { message in
                if message.exchange == nil { try self.write(message, to: script) }
                return true
            }
        }
        try script.close(at: time, &file)
        open[record.id] = nil
    }

    // MARK: Exchanges

    private func write(
        _ phase: ConnectionScript.Phase, _ record: ExchangeRecord, to script: ConnectionScript,
        _ time: Timestamp
    ) throws {
        for audience in script.audiences(of: record, in: phase) {
            try write(audience, record, to: script, time)
        }
    }

    private func write(
        _ audience: ConnectionScript.Audience, _ record: ExchangeRecord,
        to script: ConnectionScript, _ time: Timestamp
    ) throws {
        let legs = audience.legs
        func part(_ part: ExchangePart, _ at: Timestamp) throws {
            try script.write(part, of: record, at: at, to: legs, &file)
        }
        switch audience.phase {
        case .request:
            let at = audience.isLate ? record.startedAt : time
            try part(.requestHead, at)
            if !record.leavesHTTP {
                try body(of: record, .request, legs, script, at)
                try part(.requestEnd, at)
            }
            // At once: what follows on the connection is in HTTP/2 already.
            for head in record.switchHeads { try part(.interim(head), at) }
        case .head:
            let at = audience.isLate ? record.firstByteAt : time
            for head in record.interimHeads.dropFirst(record.switchHeads.count) {
                try part(.interim(head), at)
            }
            if !record.responseHead.isEmpty { try part(.responseHead, at) }
        case .end:
            if record.leavesHTTP {
                try tunnel(of: record, legs, script, time)
                try part(.requestEnd, time)
            } else {
                try body(of: record, .response, legs, script, time)
            }
            try part(.responseEnd, time)
        }
    }

    private func body(
        of record: ExchangeRecord, _ direction: Direction, _ legs: [PacketLeg.Role],
        _ script: ConnectionScript, _ time: Timestamp
    ) throws {
        guard !isRedacted else { return }
        try source.body(ofExchange: record.id, direction) { bytes in
            try script.write(
                .content(direction, bytes), of: record, at: time, to: legs, &self.file)
            return true
        }
    }

    private func tunnel(
        of record: ExchangeRecord, _ legs: [PacketLeg.Role], _ script: ConnectionScript,
        _ time: Timestamp
    ) throws {
        guard !isRedacted, !record.isConnect else { return }
        var isTold = false
        try source.messages(ofConnection: record.connection, exchange: record.id) { message in
            isTold = true
            if message.isTruncated { losses.note(.contentCut, "exchange \(record.id)") }
            let bytes = TunnelContent.bytes(of: message)
            try script.write(
                .content(message.direction, bytes), of: record, at: message.at, to: legs,
                &self.file)
            return true
        }
        guard !isTold else { return }
        try body(of: record, .request, legs, script, time)
        try body(of: record, .response, legs, script, time)
    }

    private func write(_ message: MessageRecord, to script: ConnectionScript) throws {
        let place = "connection \(message.connection)"
        guard message.kind == .segment || message.kind == .datagram else {
            return losses.note(.frameLeftOut, place)
        }
        if message.isTruncated { losses.note(.contentCut, place) }
        try script.write(message, &file)
    }

    // MARK: What comes first

    private func writePrelude() throws {
        try file.beginSection(
            application: PacketOrigin(isRedacted: isRedacted).name(options.creatorVersion))
        try file.addInterface(
            "client-leg", "between clients and the proxy; packets made from a recording")
        try file.addInterface(
            "server-leg", "between the proxy and origins; packets made from a recording")
        try file.addInterface(
            "decrypted", "what was said inside of TLS; packets made from a recording")
        var prelude = ExportPrelude(hasSecrets: !isRedacted)
        try source.connections { record in
            if self.wanted?.contains(record.id) ?? true {
                try prelude.add(record, to: &self.file)
            }
            return true
        }
        try prelude.finish(&file)
    }
}

extension ExchangeRecord {
    fileprivate var firstByteAt: Timestamp {
        startedAt.advanced(byMicroseconds: firstByteMicroseconds ?? durationMicroseconds ?? 0)
    }

    fileprivate var redacted: ExchangeRecord {
        var result = self
        result.requestHead = HeadRedaction.redact(head: requestHead)
        result.responseHead = HeadRedaction.redact(head: responseHead)
        result.interimHeads = interimHeads.map(HeadRedaction.redact(head:))
        result.requestBody.trailers = []
        result.responseBody.trailers = []
        return result
    }
}

extension Timestamp {
    static let distantFuture = Timestamp(microseconds: .max)

    func advanced(byMicroseconds count: Int64) -> Timestamp {
        let (sum, overflow) = microseconds.addingReportingOverflow(max(0, count))
        return Timestamp(microseconds: overflow ? .max : sum)
    }
}
