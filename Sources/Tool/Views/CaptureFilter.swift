internal import Base
internal import Contents
package import Filters
package import Findings
internal import HTTPCodecs
package import Traffic

/// A filter on the records of one capture; everything passes if there is none.
///
/// What the records do not hold themselves is read when a condition asks for it: connections one
/// by one, findings all at once and once only, contents in pieces up to `contentLimit`.
package final class CaptureFilter: FilterSource, CaptureSelection {
    private let filter: Filter?
    private let source: any TrafficSource
    private let configuration: FindingsConfiguration
    private let checkpoint: () throws -> Void
    private let progress: (Int64, Int64) throws -> Void
    private var connections = RecentConnections()
    private var findings: [CaptureInspection.Place: [FilterFinding]]?

    /// - Parameters:
    ///   - checkpoint: called for each piece of a content, which may take long; an error of it ends
    ///     the work.
    ///   - progress: told how far the search for findings has come, if the filter asks for them.
    package init(
        _ filter: Filter?, in source: any TrafficSource, configuration: FindingsConfiguration,
        checkpoint: @escaping () throws -> Void = {},
        progress: @escaping (_ done: Int64, _ total: Int64) throws -> Void = { _, _ in }
    ) {
        self.filter = filter
        self.source = source
        self.configuration = configuration
        self.checkpoint = checkpoint
        self.progress = progress
    }

    package func accepts(_ exchange: ExchangeRecord) throws -> Bool {
        try filter?.accepts(ExchangeSubject(exchange, in: self)) ?? true
    }

    package func accepts(_ connection: ConnectionRecord) throws -> Bool {
        try filter?.accepts(ConnectionSubject(connection, in: self)) ?? true
    }

    package func accepts(_ message: WholeMessage) throws -> Bool {
        let subject = MessageSubject(
            message.first, size: message.size, detail: message.detail, recorded: message.recorded)
        return try filter?.accepts(subject) ?? true
    }

    package func connection(_ id: Int64) throws -> ConnectionRecord? {
        try connections.record(id, in: source)
    }

    package func findings(ofExchange id: Int64) throws -> [FilterFinding] {
        try allFindings()[.exchange(id)] ?? []
    }

    package func findings(ofConnection id: Int64) throws -> [FilterFinding] {
        try allFindings()[.connection(id)] ?? []
    }

    /// Judges the whole capture when it is asked first; a few dozen bytes for each record that has
    /// findings are kept.
    private func allFindings() throws -> [CaptureInspection.Place: [FilterFinding]] {
        if let findings { return findings }
        var all: [CaptureInspection.Place: [FilterFinding]] = [:]
        _ = try CaptureInspection.report(
            on: source, configuration: configuration, progress: progress
        ) { place, found in
            guard !found.isEmpty else { return }
            let names = found.map { FilterFinding(rule: $0.rule.rawValue, severity: $0.severity) }
            all[place, default: []] += Set(names)
        }
        findings = all
        return all
    }

    /// Undoes the content codings; where they are unknown or broken, the bytes are given as they
    /// were recorded, from there on.
    package func content(
        of exchange: ExchangeRecord, _ direction: Direction,
        _ visit: (ArraySlice<UInt8>) throws -> Bool
    ) throws {
        let head = direction == .request ? exchange.requestHead : exchange.responseHead
        let decoder = ContentDecoder(RecordedHead(head).contentCodings ?? [], limit: .recorded)
        var count = 0
        var isWanted = true
        func take(_ piece: [UInt8]) throws -> Bool {
            try checkpoint()
            let plain = piece.prefix(Self.contentLimit - count)
            count += plain.count
            isWanted = try visit(plain) && count < Self.contentLimit
            return isWanted
        }
        try source.body(ofExchange: exchange.id, direction) { bytes in
            let before = count
            try decoder.decode(bytes.span, take)
            if case .corrupt = decoder.stop, count == before { return try take(bytes) }
            return isWanted
        }
        guard isWanted else { return }
        try messages(of: exchange, direction, room: Self.contentLimit - count, visit)
    }

    /// What was said once the exchange had become a WebSocket, a line each. Messages of other kinds
    /// stand in the contents.
    private func messages(
        of exchange: ExchangeRecord, _ direction: Direction, room: Int,
        _ visit: (ArraySlice<UInt8>) throws -> Bool
    ) throws {
        var room = room
        try source.messages(ofConnection: exchange.connection, exchange: exchange.id) { message in
            guard message.direction == direction, message.offset == nil, room > 0 else {
                return room > 0
            }
            let bytes = message.bytes + (message.isLast ? Self.lineEnd : [])
            room -= bytes.count
            return try visit(bytes[...])
        }
    }

    private static let lineEnd = Array("\n".utf8)

    /// How much of a content is looked through, in bytes after decoding: more than anything that
    /// people search by text, and a second or so of work.
    static let contentLimit = 64 * 1024 * 1024
}
