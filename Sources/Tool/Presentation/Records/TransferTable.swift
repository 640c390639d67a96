internal import Base
internal import Terminal
internal import TransferAnalysis
internal import Views

/// The transfers as a table for people.
struct TransferTable {
    private var table: TableWriter
    private let mapWidth: Int

    init(to console: Console) {
        mapWidth = console.output.columns.map { $0 < Self.wide ? 20 : 40 } ?? 40
        table = TableWriter(
            [
                TableWriter.Column(title: "id", isRight: true),
                TableWriter.Column(title: "method"),
                TableWriter.Column(title: "url", isFlexible: true),
                TableWriter.Column(title: "parts", isRight: true),
                TableWriter.Column(title: "size", isRight: true),
                TableWriter.Column(title: "map"),
                TableWriter.Column(title: "state"),
            ],
            to: console.output, palette: console.palette)
    }

    mutating func append(_ summary: TransferSummary) throws(Failure) {
        let transfer = summary.transfer
        let current = transfer.current
        try table.append(
            [
                TableWriter.Cell(Self.numbers(transfer), .faint),
                TableWriter.Cell(transfer.httpMethod),
                TableWriter.Cell(summary.url),
                TableWriter.Cell(number: Int64(transfer.parts.count + transfer.leftOut)),
                TableWriter.Cell(Self.size(current)),
                TableWriter.Cell(ByteMapBar.render(current, width: mapWidth)),
                TableWriter.Cell(Self.state(transfer), Self.style(transfer.state)),
            ],
            note: TableWriter.Cell(Self.note(transfer), .faint))
    }

    mutating func finish() throws(Failure) {
        try table.finish()
    }

    /// `7`, `7-9`, `7,12-14,…`
    private static func numbers(_ transfer: Transfer) -> String {
        var runs: [(first: Int64, last: Int64)] = []
        for part in transfer.parts {
            if let last = runs.last, part.exchange == last.last &+ 1 {
                runs[runs.count - 1].last = part.exchange
            } else {
                runs.append((part.exchange, part.exchange))
            }
        }
        let shown = runs.prefix(runLimit).map {
            $0.first == $0.last ? "\($0.first)" : "\($0.first)-\($0.last)"
        }
        return (shown + (runs.count > runLimit ? ["…"] : [])).joined(separator: ",")
    }

    private static func size(_ version: TransferVersion) -> String {
        let held = Quantity.text(byteCount: version.heldCount)
        guard version.state != .complete else { return held }
        return held + "/" + (version.total.map(Quantity.text(byteCount:)) ?? "?")
    }

    private static func state(_ transfer: Transfer) -> String {
        let current = transfer.current
        switch transfer.state {
        case .partial:
            guard let total = current.total, total > 0 else { return "partial" }
            // Whole percents, of which the last is only reached with the last byte.
            return "partial \(min(99, Int(Double(current.heldCount) / Double(total) * 100)))%"
        case .changed: return "changed, \(transfer.versions.count) versions"
        default: return transfer.state.rawValue
        }
    }

    /// What names the version, its hash, and what else was noticed.
    private static func note(_ transfer: Transfer) -> String {
        let version = transfer.current
        var words: [String] = []
        if transfer.method != .http { words.append(transfer.method.rawValue) }
        if let tag = version.identity.entityTagText {
            words.append("etag \(tag)")
        } else if let date = version.identity.lastModified {
            words.append("last modified \(date)")
        }
        if let sameness = version.sameness, sameness > .digest {
            words.append("joined without proof (\(sameness.rawValue))")
        }
        switch version.hash {
        case .sha256(let bytes): words.append("sha256 \(bytes.prefix(8).hex)…")
        case .none(.notRecorded): words.append("not recorded whole")
        case .none: break
        }
        let checks = version.digests + transfer.parts.flatMap(\.digests)
        for outcome in [DigestCheck.Outcome.mismatch, .match] {
            let count = checks.count { $0.outcome == outcome }
            if count > 0 { words.append("digest \(outcome.rawValue)") }
        }
        let notes = transfer.notes + transfer.parts.flatMap(\.notes)
        for note in notes {
            let word = note.code.rawValue + (note.detail.isEmpty ? "" : " (\(note.detail))")
            if !words.contains(word), words.count < wordLimit { words.append(word) }
        }
        return words.isEmpty ? "no validator" : words.joined(separator: ", ")
    }

    private static func style(_ state: TransferState) -> Palette.Style {
        switch state {
        case .complete: .green
        case .partial, .cancelled: .yellow
        case .changed, .conflicting, .failed: .red
        }
    }

    private static let runLimit = 3
    private static let wordLimit = 12
    /// In columns: where a long map leaves room for a URL.
    private static let wide = 140
}
