internal import Base
internal import Contents
internal import Filters
internal import Findings
internal import Traffic

/// Which records a command is about, for every command that has `--filter`.
struct FilterOptions {
    var filter: Filter?
    /// How findings are looked for, if the filter asks for them.
    var inspection = InspectionOptions()

    /// Errors: `file-unreadable`, `profile-invalid`.
    func open(
        _ source: any TrafficSource, _ environment: Environment
    ) throws(Failure) -> CaptureFilter {
        CaptureFilter(
            filter, in: source, configuration: try inspection.configuration(environment),
            environment)
    }
}

/// The options of every command that filters.
func filterParameters(for subject: FilterField.Subject) -> [Parameter<FilterOptions>] {
    let filter = Parameter<FilterOptions>.option(
        "filter", \.filter, .filter(for: subject), "only the \(subject.words) that match")
    guard subject.names.contains(.finding) else { return [filter] }
    return [filter] + inspectionParameters.map { $0.lifted(to: \.inspection) }
}

/// A filter on the records of one capture; everything passes if there is none.
///
/// What the records do not hold themselves is read when a condition asks for it: connections one
/// by one, findings all at once and once only, contents in pieces up to `contentLimit`.
final class CaptureFilter: FilterSource {
    private let filter: Filter?
    private let source: any TrafficSource
    private let configuration: FindingsConfiguration
    private let environment: Environment
    private var connections: [Int64: ConnectionRecord] = [:]
    private var findings: [CaptureInspection.Place: [FilterFinding]]?

    init(
        _ filter: Filter?, in source: any TrafficSource, configuration: FindingsConfiguration,
        _ environment: Environment
    ) {
        self.filter = filter
        self.source = source
        self.configuration = configuration
        self.environment = environment
    }

    func accepts(_ exchange: ExchangeRecord) throws -> Bool {
        try filter?.accepts(ExchangeSubject(exchange, in: self)) ?? true
    }

    func accepts(_ connection: ConnectionRecord) throws -> Bool {
        try filter?.accepts(ConnectionSubject(connection, in: self)) ?? true
    }

    func accepts(_ message: WholeMessage) throws -> Bool {
        let subject = MessageSubject(
            message.first, size: message.size, detail: message.detail, recorded: message.recorded)
        return try filter?.accepts(subject) ?? true
    }

    /// Exchanges of one connection come close together, so a few are remembered.
    func connection(_ id: Int64) throws -> ConnectionRecord? {
        if let known = connections[id] { return known }
        if connections.count >= Self.connectionLimit { connections = [:] }
        let record = try source.connection(id)?.withoutBulk
        connections[id] = record
        return record
    }

    func findings(ofExchange id: Int64) throws -> [FilterFinding] {
        try allFindings()[.exchange(id)] ?? []
    }

    func findings(ofConnection id: Int64) throws -> [FilterFinding] {
        try allFindings()[.connection(id)] ?? []
    }

    /// Judges the whole capture when it is asked first; a few dozen bytes for each record that has
    /// findings are kept.
    private func allFindings() throws -> [CaptureInspection.Place: [FilterFinding]] {
        if let findings { return findings }
        var all: [CaptureInspection.Place: [FilterFinding]] = [:]
        _ = try CaptureInspection.report(
            on: source, configuration: configuration, environment: environment
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
    func content(
        of exchange: ExchangeRecord, _ direction: Direction,
        _ visit: (ArraySlice<UInt8>) throws -> Bool
    ) throws {
        let head = direction == .request ? exchange.requestHead : exchange.responseHead
        let codings = RecordedHead(head).values(named: "content-encoding")
            .map(\.text).joined(separator: ",")
        let decoding = Decoding(codings.isEmpty ? nil : decoder(codings))
        var isWanted = true
        try source.body(ofExchange: exchange.id, direction) { bytes in
            try decoding.push(bytes) { piece in
                let plain = piece.prefix(Self.contentLimit - decoding.count)
                decoding.count += plain.count
                isWanted = try visit(plain) && decoding.count < Self.contentLimit
                return isWanted
            }
            return isWanted
        }
        guard isWanted, try visit(decoding.finish()[...]) else { return }
        try messages(of: exchange, direction, room: Self.contentLimit - decoding.count, visit)
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

    private func decoder(_ codings: String) -> ContentStream? {
        do throws(Failure) {
            return try environment.decodeContent(codings)
        } catch {
            // What cannot be decoded is looked through as it is.
            return nil
        }
    }

    /// How much of a content is looked through, in bytes after decoding: more than anything that
    /// people search by text, and a second or so of work.
    static let contentLimit = 64 * 1024 * 1024
    private static let connectionLimit = 256
}

/// A content while its codings are undone.
private final class Decoding {
    /// `nil` for what is given as it is.
    private var stream: ContentStream?
    /// How much was given, in bytes.
    var count = 0

    init(_ stream: ContentStream?) {
        self.stream = stream
    }

    func push(_ bytes: [UInt8], _ visit: ([UInt8]) throws -> Bool) throws {
        guard let stream else {
            _ = try visit(bytes)
            return
        }
        do {
            _ = try stream.push(bytes, visit)
        } catch let failure as Failure where failure.code == "content-malformed" {
            self.stream = nil
            _ = try visit(bytes)
        }
    }

    func finish() -> [UInt8] {
        do throws(Failure) {
            return try stream?.finish() ?? []
        } catch {
            // It ends in the middle of its coding, or unpacks to more than is looked through; what
            // came before was given.
            return []
        }
    }
}
