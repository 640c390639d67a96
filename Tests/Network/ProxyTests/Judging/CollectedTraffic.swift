import Base
import CaptureStore
import Findings
import Formats
import Foundation
import PacketFormats
import TLS
import Traffic

/// What a proxy has recorded, to be read as a capture.
struct CollectedTraffic: TrafficSource {
    let content: TrafficCollector.Content

    func connections(_ visit: (ConnectionRecord) throws -> Bool) throws {
        for record in content.finalConnections { guard try visit(record) else { return } }
    }

    func exchanges(_ visit: (ExchangeRecord) throws -> Bool) throws {
        for record in content.finalExchanges { guard try visit(record) else { return } }
    }

    func exchange(_ id: Int64) throws -> ExchangeRecord? { content.exchanges[id]?.last }

    func body(
        ofExchange id: Int64, _ direction: Direction, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        for chunk in content.chunks[id]?[direction] ?? [] { guard try visit(chunk) else { return } }
        guard let record = try exchange(id) else { return }
        _ = try visit(direction == .request ? record.requestBody.bytes : record.responseBody.bytes)
    }

    func messages(
        ofConnection id: Int64, exchange: Int64?, _ visit: (MessageRecord) throws -> Bool
    ) throws {
        for record in content.messages[id] ?? []
        where exchange == nil || record.exchange == exchange {
            guard try visit(record) else { return }
        }
    }

    /// The same, in a file for the while.
    func inFile<Result>(_ body: (CaptureReader) throws -> Result) throws -> Result {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("judged-\(UUID().uuidString).sallyport").path
        defer { Files.remove(path) }
        let writer = try CaptureWriter(
            path: path, configuration: CaptureConfiguration(digest: Digests.sha256))
        writer.submit(content.finalConnections.map(TrafficEvent.connection))
        for (id, directions) in content.chunks {
            for (direction, chunks) in directions {
                writer.submit(
                    chunks.enumerated().map {
                        .bodyChunk(
                            exchange: id, direction: direction, sequence: $0.offset,
                            bytes: $0.element)
                    })
            }
        }
        writer.submit(content.finalExchanges.map(TrafficEvent.exchange))
        writer.submit(content.messages.values.joined().map(TrafficEvent.message))
        try writer.close()
        return try body(CaptureReader(path: path))
    }

    /// What an import of its packets has.
    func throughPackets() async throws -> CollectedTraffic {
        var packets: [UInt8] = []
        var options = ExportOptions()
        options.withSecrets = true
        _ = try PacketExporter().export(self, options) { packets += $0 }
        let imported = TrafficCollector()
        let writer = ImportWriter(sink: imported, nextConnection: 1, nextExchange: 1)
        var held: [UInt8]? = packets
        try await PacketImporter().read({ held.take() ?? [] }, into: writer)
        return CollectedTraffic(content: imported.content)
    }
}

extension TrafficSource {
    /// All that a report says of each finding, and what it could not read.
    func judged() throws -> [String] {
        let report = try CaptureInspection.report(on: self, configuration: .ofTests)
        let findings = report.findings.map { finding in
            let facts = [
                "\(finding.rule.rawValue) \(finding.severity) \(finding.confidence)",
                finding.service, finding.place, finding.value?.summary ?? "-",
                finding.notes.map { "\($0)" }.sorted().joined(separator: ", "),
                "\(finding.occurrences)",
            ]
            return facts.joined(separator: " | ")
        }
        return findings.sorted() + report.reasons.map(\.code)
    }
}

extension FindingsConfiguration {
    fileprivate static let ofTests = FindingsConfiguration(
        digests: DigestFunctions(
            sha256: { Digests.sha256($0) }, sha1: { Digests.sha1($0) }, md5: { Digests.md5($0) },
            hmacSHA256: { Digests.hmacSHA256(key: $0, $1) }),
        runKey: [UInt8](repeating: 7, count: 32), registrableDomain: { _ in nil },
        treatsLoopbackAsRemote: true)
}
