internal import Base
internal import Comparison
internal import Findings
internal import Formats
internal import Logins
internal import PacketFormats
internal import Replay
internal import TLS
internal import Traffic
internal import TransferAnalysis

/// What is made of a capture without a command line.
enum Exports {
    /// Of one export, in bytes: a foreign capture must not become more than a multiple of itself.
    private static let outputLimit = 64 << 20

    /// Set by `Execution`, whose process runs one input at a time.
    nonisolated(unsafe) static var areAllMade = false

    /// Makes one of them, which the input decides: all at each execution would leave no time for
    /// the reader itself.
    ///
    /// - Parameter input: what the capture was made of.
    static func run(_ capture: MemoryCapture, for input: [UInt8]) {
        let place = Int(FuzzedReader.number(of: input) % UInt64(forms.count))
        do {
            for form in unsafe areAllMade ? forms : [forms[place]] { try form(capture) }
        } catch { Oracle.fail("\(error)") }
    }

    private static let forms: [@Sendable (MemoryCapture) throws -> Void] = [
        { _ = bytes(HARExporter(), of: $0, withSecrets: true) },
        { _ = bytes(HARExporter(), of: $0, withSecrets: false) },
        { _ = bytes(MitmproxyExporter(), of: $0, withSecrets: true) },
        { _ = bytes(MitmproxyExporter(), of: $0, withSecrets: false) },
        { _ = bytes(PacketExporter(), of: $0, withSecrets: true) },
        { _ = bytes(PacketExporter(), of: $0, withSecrets: false) },
        { find($0) }, { snippets($0) }, { try replay($0) }, { try transfer($0) },
        { try compare($0) },
    ]

    static func bytes(
        _ exporter: any CaptureExporter, of capture: MemoryCapture, withSecrets: Bool
    ) -> [UInt8] {
        var options = ExportOptions()
        options.withSecrets = withSecrets
        var output: [UInt8] = []
        do {
            _ = try exporter.export(capture, options) { output += $0 }
        } catch {}
        Oracle.check(output.count <= outputLimit, "an export has \(output.count) bytes")
        return output
    }

    private static func find(_ capture: MemoryCapture) {
        var engine = FindingsEngine(Sample.findings)
        do {
            try capture.connections { connection in
                var messages = GatheredMessages()
                try capture.messages(ofConnection: connection.id, exchange: nil) {
                    messages.add($0)
                }
                engine.observe(connection, messages: messages)
                return true
            }
            try capture.exchanges { exchange in
                var bodies: [[UInt8]] = [[], []]
                for direction in [Direction.request, .response] {
                    try capture.body(ofExchange: exchange.id, direction) {
                        bodies[direction.rawValue] += $0
                        return true
                    }
                }
                engine.observe(
                    exchange, on: try capture.connection(exchange.connection),
                    requestBody: bodies[0], responseBody: bodies[1])
                return true
            }
        } catch { Oracle.fail("\(error)") }
        _ = engine.report()
    }

    private static func snippets(_ capture: MemoryCapture) {
        do {
            try capture.exchanges { exchange in
                let snippet = try RequestSnippet(
                    exchange, of: capture, capture: "capture.db", withSecrets: false)
                for form in RequestSnippet.Form.allCases { _ = snippet.text(as: form) }
                return true
            }
        } catch {}  // A request that no command can make.
    }

    /// Makes what a replay of either side is planned by, and plays every dialogue to its end.
    private static func replay(_ capture: MemoryCapture) throws {
        var options = ReplayOptions()
        options.timing = 1000
        options.now = { MonotonicTime(nanoseconds: .max) }
        _ = try ReplayRecording(
            capture, options: options,
            digests: ReplayDigests(
                makeSHA256: { RunningHash(.sha256) }, sha1: { TLS.Digests.sha1($0) }))
        let plan = try ReplayPlan(capture, substitutes: true, keeps: []) { _ in true }
        let windows = plan.entries.map { ReplaySchedule.Window(start: $0.start, end: $0.end) }
        var schedule = ReplaySchedule(
            windows, pace: .timing(thousandths: 2000), concurrencyLimit: 2)
        for place in windows.indices {
            _ = schedule.step(now: UInt64(place))
            schedule.end(place)
        }
    }

    private static func transfer(_ capture: MemoryCapture) throws {
        let ledger = TransferLedger(capture, makeHash: RunningHash.init) { _ in true }
        try capture.exchanges { exchange in
            try ledger.take(exchange, from: TransferClient(address: "", program: nil))
            return true
        }
        try ledger.finish()
    }

    private static func compare(_ capture: MemoryCapture) throws {
        let comparison = CaptureComparison(
            ComparisonConfiguration(sha256: { TLS.Digests.sha256($0) }))
        let subject = CaptureComparison.Subject(name: "capture", source: capture)
        _ = try comparison.compare(subject, subject)
    }
}
