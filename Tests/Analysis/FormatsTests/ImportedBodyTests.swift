import Base
import HTTPModel
import Recording
import TLS
import Testing
import Traffic

@testable import Formats

/// A content that was imported is stored once with the same content that was recorded.
@Suite struct ImportedBodyTests {
    enum Format: Sendable, CaseIterable {
        case har
        case mitmproxy

        var exporter: any CaptureExporter {
            switch self {
            case .har: HARExporter()
            case .mitmproxy: MitmproxyExporter()
            }
        }

        var importer: any CaptureImporter {
            switch self {
            case .har: HARImporter()
            case .mitmproxy: MitmproxyImporter()
            }
        }
    }

    @Test(arguments: Format.allCases)
    func meetsTheRecordedOne(_ format: Format) async throws {
        let content = (0..<900_001).map { UInt8(truncatingIfNeeded: $0 &* 7919 >> 5) }
        let recorded = record(content)
        var options = ExportOptions()
        options.withSecrets = true
        let file = Collector()
        _ = try format.exporter.export(recorded, options) { file.append($0) }
        let imported = MemoryTraffic()
        let writer = ImportWriter(sink: imported, nextConnection: 1, nextExchange: 1)
        var pieces = [file.bytes]
        try await format.importer.read({ pieces.popLast() ?? [] }, into: writer)
        for direction in [Direction.request, .response] {
            #expect(imported.content(1, direction) == content)
            #expect(
                imported.chunks(1, direction).map(Digests.sha256)
                    == recorded.chunks(1, direction).map(Digests.sha256))
        }
    }

    /// As the proxy does it, in odd pieces.
    private func record(_ content: [UInt8]) -> MemoryTraffic {
        let traffic = MemoryTraffic()
        var record = ExchangeRecord(
            id: 1, connection: 1, startedAt: Timestamp(microseconds: 1_700_000_000_000_000),
            scheme: .http, authority: "a.example")
        let fields = "Content-Length: \(content.count)\r\nContent-Type: image/png\r\n\r\n"
        record.requestHead = Array("POST / HTTP/1.1\r\nHost: a.example\r\n\(fields)".utf8)
        record.responseHead = Array("HTTP/1.1 200 OK\r\n\(fields)".utf8)
        record.status = 200
        let exchange = ExchangeRecorder(
            record, to: TrafficRecorder(sink: traffic), messages: nil)
        for start in stride(from: 0, to: content.count, by: 1009) {
            let piece = content.span.extracting(start..<min(start + 1009, content.count))
            exchange.append(piece, .request)
            exchange.append(piece, .response)
        }
        exchange.finish()
        return traffic
    }
}
