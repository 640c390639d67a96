internal import Base
package import Traffic

/// How far an export has come: in bytes of contents, of which one alone may take minutes, and some
/// for each head.
package final class ExportProgress {
    /// Told how far it has come, and of how much.
    private let tell: (_ done: Int64, _ total: Int64) throws -> Void
    private var total: Int64
    /// Whether a long content is read twice: once to know how it can be written.
    private let readsTwice: Bool
    private var passedCount: Int64 = 0
    /// Of contents that were left behind, in bytes.
    private var passedBytes: Int64 = 0
    private var content: (exchange: Int64, direction: Direction)?
    /// Of the content that is being read: what the passes before have read, and this one.
    private var known: Int64?
    private var read: Int64 = 0
    private var lastLeftOut = Int64.min

    /// - Parameter source: what will be exported.
    ///
    /// Errors: those of the source.
    package init(
        of source: any TrafficSource, as format: ExportRun.Format, withSecrets: Bool,
        tell: @escaping (_ done: Int64, _ total: Int64) throws -> Void
    ) throws {
        var count: Int64 = 0
        try source.connections { record in
            count = count.addingSaturated(record.exchangeCount)
            return true
        }
        self.tell = tell
        readsTwice = format == .har || format == .bodies || !withSecrets
        total = RecordedNumber.bounded(count) &* Self.headSize
        // Masked packets have heads alone.
        if format != .pcapng || withSecrets { total += try source.contentSize }
    }

    /// Takes an exchange out of the reckoning that is not wanted.
    package func leaveOut(_ exchange: ExchangeRecord) {
        guard exchange.id > lastLeftOut else { return }
        lastLeftOut = exchange.id
        total = max(0, total &- RecordedNumber.bounded(exchange.contentSize))
    }

    /// Counts exchanges that were passed, wanted or not.
    package func pass(_ count: Int64) throws {
        passedCount = count
        try show()
    }

    func begin(_ exchange: Int64, _ direction: Direction) {
        if let content, content == (exchange, direction) {
            known = max(known ?? 0, read)
        } else {
            passedBytes += max(known ?? 0, read)
            content = (exchange, direction)
            known = nil
        }
        read = 0
    }

    func read(_ count: Int) throws {
        read += Int64(count)
        try show()
    }

    private func show() throws {
        let part = known.map { ($0 + read) / 2 } ?? (readsTwice ? read / 2 : read)
        try tell(min(total, passedCount * Self.headSize + passedBytes + part), total)
    }

    /// In bytes: what an exchange without a content is worth.
    private static let headSize: Int64 = 1 << 10
}
