package import Base
package import Refresh
package import Terminal

extension RefreshReport {
    /// Writes it as a table for people.
    package func write(to console: Console) throws(Failure) {
        let name = trace.isEmpty ? "trace" : TerminalText.sanitized(trace)
        let head = "\(name): \(Quantity.text(days, "day")), seed \(seed)"
        try console.output.write(console.palette.paint(head, .bold) + "\n")
        var table = Listing(columns, names: nil, to: console)
        for row in rows { try table.append(row) }
        try table.finish()
        var lines = LineWriter(console.output)
        for (app, advice) in advice {
            try lines.write("\(TerminalText.sanitized(app)): \(advice.text)")
        }
        if let radioNote { try lines.write(radioNote) }
        try lines.write(verdict)
        try lines.flush()
    }

    /// Stands beside the verdict, which is about bytes, wakes and freshness; `nil` for nothing to say.
    private var radioNote: String? {
        guard scheduler.openings > 0, scheduler.radio > timer.radio else { return nil }
        return "the scheduler's wakes keep the radio up longer than the timer's"
    }

    private var verdict: String {
        guard scheduler.openings > 0 else {
            return "nothing can be said: no app is opened in the trace"
        }
        return beatsTimer
            ? "the scheduler beats the timer" : "the scheduler does not beat the timer"
    }

    private var rows: [Row] {
        let all = [scheduler, timer, openingOnly]
        let time: (Int64) -> String = { Quantity.text(microseconds: $0 * 1000) }
        let size: (Int64) -> String = { Quantity.text(byteCount: $0) }
        return [
            Row("wakes", all.map { Int64($0.wakes) }, String.init),
            Row("bytes", all.map(\.bytes), size),
            Row("radio in wakes", all.map(\.radio), time),
            Row(
                "fresh openings of \(scheduler.openings)", all.map { Int64($0.freshOpenings) },
                String.init, isMoreBetter: true),
            Row("mean staleness", all.map(\.meanStaleness), time),
            Row("staleness, 95 %", all.map { $0.staleness(percentile: 95) }, time),
            Row("median age at opening", all.map { $0.age(percentile: 50) }, time),
        ]
    }
}

/// One measure of the three ways.
private struct Row {
    let name: String
    let texts: [String]
    /// Who was best; empty where all were alike.
    let best: String

    static let ways = ["scheduler", "timer", "opening only"]

    init(
        _ name: String, _ values: [Int64], _ text: (Int64) -> String, isMoreBetter: Bool = false
    ) {
        self.name = name
        texts = values.map(text)
        let top = isMoreBetter ? values.max() : values.min()
        let winners = zip(Self.ways, values).filter { $0.1 == top }.map(\.0)
        best = winners.count == values.count ? "" : winners.joined(separator: ", ")
    }
}

private let columns: [Listing<Row>.Column] =
    [.init("measure", title: "") { TableWriter.Cell($0.name) }]
    + Row.ways.indices.map { index in
        .init(Row.ways[index], isRight: true) { TableWriter.Cell($0.texts[index]) }
    } + [.init("best") { TableWriter.Cell($0.best, .green) }]

extension RefreshAdvice {
    fileprivate var text: String {
        switch self {
        case .push: "something new comes seldom enough for a push each time"
        case .fetch: "something new comes too often for pushes"
        case .nothing: "nothing new came"
        }
    }
}
