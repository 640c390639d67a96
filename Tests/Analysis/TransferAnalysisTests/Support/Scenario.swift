import Base
import Contents
import TLS
import Testing
import Traffic

@testable import TransferAnalysis

/// One exchange of a scenario. The first line of `request` is a method and a target, that of
/// `response` a status; further lines are fields.
struct Step: Sendable {
    var request: String
    var content = ""
    var response: String
    var answer = ""
    var error: String?
    var interims: [String] = []
    /// How much of `content` was recorded; `nil` for all of it.
    var recorded: Int?
    /// How much more of the answer passed than was recorded.
    var unrecorded: Int64 = 0
    var client = "10.0.0.1"
    var program: String?
    var trailers = ""

    /// - Parameter response: empty if none came.
    init(
        _ request: String, _ content: String = "", _ response: String, _ answer: String = "",
        error: String? = nil
    ) {
        self.request = request
        self.content = content
        self.response = response
        self.answer = answer
        self.error = error
    }

    func with(_ change: (inout Step) -> Void) -> Step {
        var step = self
        change(&step)
        return step
    }
}

/// Exchanges in memory, whose contents are visited in small pieces.
struct Scenario: TrafficSource {
    /// How many bytes of contents were handed out.
    final class Reads {
        var bytes = 0
    }

    let reads = Reads()
    /// In bytes.
    var pieceSize = 3
    var exchanges: [ExchangeRecord] = []
    var clients: [TransferClient] = []

    init(_ steps: [Step]) {
        for (index, step) in steps.enumerated() {
            var record = ExchangeRecord(
                id: Int64(index) + 1, connection: 1,
                startedAt: Timestamp(microseconds: Int64(index) * 1_000_000), scheme: .https,
                authority: "files.example")
            var lines = step.request.split(separator: "\n").map(String.init)
            lines[0] += " HTTP/1.1"
            record.requestHead = Self.head(lines)
            record.requestBody.bytes = [UInt8](step.content.utf8)
            record.requestBody.size = Int64(step.content.utf8.count)
            if let recorded = step.recorded {
                record.requestBody.bytes = Array(record.requestBody.bytes.prefix(recorded))
                record.requestBody.isTruncated = true
            }
            record.interimHeads = step.interims.map {
                Self.head(("HTTP/1.1 " + $0).split(separator: "\n").map(String.init))
            }
            if !step.response.isEmpty {
                record.responseHead = Self.head(
                    ("HTTP/1.1 " + step.response).split(separator: "\n").map(String.init))
                record.status = Int(step.response.prefix(3)) ?? 0
            }
            record.responseBody.bytes = [UInt8](step.answer.utf8)
            record.responseBody.size = Int64(step.answer.utf8.count) + step.unrecorded
            record.responseBody.isTruncated = step.unrecorded > 0
            record.responseBody.trailers = [UInt8](step.trailers.utf8)
            record.durationMicroseconds = 1000
            record.error = step.error
            exchanges.append(record)
            clients.append(TransferClient(address: step.client, program: step.program))
        }
    }

    private static func head(_ lines: [String]) -> [UInt8] {
        [UInt8]((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    func transfers(_ limits: TransferLimits = TransferLimits()) throws -> [Transfer] {
        var transfers: [Transfer] = []
        let ledger = TransferLedger(self, limits: limits, makeHash: RunningHash.init) {
            transfers.append($0)
            return true
        }
        for (exchange, client) in zip(exchanges, clients) {
            try ledger.take(exchange, from: client)
        }
        try ledger.finish()
        return transfers
    }

    func connections(_ visit: (ConnectionRecord) throws -> Bool) throws {}

    func exchanges(_ visit: (ExchangeRecord) throws -> Bool) throws {
        for exchange in exchanges { guard try visit(exchange) else { return } }
    }

    func exchange(_ id: Int64) throws -> ExchangeRecord? { exchanges.first { $0.id == id } }

    func body(
        ofExchange id: Int64, _ direction: Direction, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        try body(ofExchange: id, direction, from: 0, visit)
    }

    func body(
        ofExchange id: Int64, _ direction: Direction, from offset: Int64,
        _ visit: ([UInt8]) throws -> Bool
    ) throws {
        guard let record = try exchange(id) else { return }
        let bytes = direction == .request ? record.requestBody.bytes : record.responseBody.bytes
        for start in stride(from: Int(offset), to: bytes.count, by: pieceSize) {
            let piece = Array(bytes[start..<min(start + pieceSize, bytes.count)])
            reads.bytes += piece.count
            guard try visit(piece) else { return }
        }
    }

    func messages(
        ofConnection id: Int64, exchange: Int64?, _ visit: (MessageRecord) throws -> Bool
    ) throws {}
}

extension Transfer {
    /// The whole story in a line: exchanges, state, and of each version what came.
    var story: String {
        let exchanges = parts.map { String($0.exchange) }.joined(separator: ",")
        let protocolName = method == .http ? "" : " \(method.rawValue)"
        var words = "\(exchanges)\(protocolName) \(state.rawValue): "
        words += versions.map(\.story).joined(separator: " | ")
        let notes = notes + parts.flatMap(\.notes)
        if !notes.isEmpty {
            words +=
                " {"
                + notes.map { note in
                    note.code.rawValue + (note.detail.isEmpty ? "" : " (\(note.detail))")
                }.joined(separator: ", ") + "}"
        }
        return words
    }
}

extension TransferVersion {
    fileprivate var story: String {
        var words = ["\(heldCount)/\(total.map(String.init) ?? "?")"]
        if let sameness { words.append(sameness.rawValue) }
        if !missing.isEmpty { words.append("missing " + Self.text(missing)) }
        if !twice.isEmpty { words.append("twice " + Self.text(twice)) }
        if !conflicting.isEmpty { words.append("conflicting " + Self.text(conflicting)) }
        if case .none(.notRecorded) = hash { words.append("not recorded") }
        for check in digests {
            words.append("\(check.field.rawValue) \(check.outcome.rawValue)")
        }
        return words.joined(separator: " ")
    }

    private static func text(_ ranges: [Range<Int64>]) -> String {
        ranges.map { "\($0.lowerBound)-\($0.upperBound - 1)" }.joined(separator: ",")
    }
}

/// One scenario and what it is told as.
struct ScenarioRow: CustomStringConvertible, Sendable {
    let description: String
    let steps: [Step]
    /// `Transfer.story` of each.
    let stories: [String]
    /// What the last transfer's hash is of; `nil` if it has none.
    let whole: String?

    init(_ name: String, _ steps: [Step], _ stories: [String], whole: String? = nil) {
        description = name
        self.steps = steps
        self.stories = stories
        self.whole = whole
    }

    /// Expects the row's story, however large the blocks are in which contents are compared.
    func check() throws {
        let transfers = try Scenario(steps).transfers()
        #expect(transfers.map(\.story) == stories)
        #expect(transfers.last?.sha256 == whole.map { Digests.sha256([UInt8]($0.utf8)) })
        var limits = TransferLimits()
        limits.comparedBlock = 2
        #expect(try Scenario(steps).transfers(limits).map(\.story) == stories)
    }
}

extension Transfer {
    var sha256: [UInt8]? {
        if case .sha256(let bytes) = current.hash { bytes } else { nil }
    }
}
