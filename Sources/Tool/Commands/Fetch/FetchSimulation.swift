internal import Base
internal import Refresh

func runFetchSimulate(
    _ arguments: FetchSimulateArguments, _ environment: Environment
) async throws -> ExitCode {
    let seed = UInt64(arguments.seed)
    let trace = try arguments.read(environment)
    let measures: RefreshMeasures
    if let path = arguments.log {
        measures = try Files.replace(path) { write throws(Failure) in
            try play(trace, seed, write)
        }
    } else if arguments.reports {
        measures = try RefreshSimulation.play(trace, seed: seed) { _ in }
    } else {
        measures = try play(trace, seed) { bytes throws(Failure) in
            try environment.output.write(bytes)
        }
    }
    guard arguments.reports else { return .clean }
    let report = RefreshReport(trace, seed: seed, measures)
    if arguments.isJSON {
        try environment.output.write(report.json.document)
    } else {
        try report.write(to: environment)
    }
    guard report.scheduler.openings > 0 else { return .inconclusive }
    return report.beatsTimer ? .clean : .findings
}

/// Plays a trace and writes what is decided as it comes, since that may be any amount.
private func play(
    _ trace: RefreshTrace, _ seed: UInt64, _ write: ([UInt8]) throws(Failure) -> Void
) throws(Failure) -> RefreshMeasures {
    var held = DecisionLog.head(trace, seed: seed) + [0x0A]
    let measures = try RefreshSimulation.play(trace, seed: seed) { entry throws(Failure) in
        held += entry.line + [0x0A]
        guard held.count >= pieceSize else { return }
        try write(held)
        held.removeAll(keepingCapacity: true)
    }
    try write(held)
    return measures
}

/// In bytes.
private let pieceSize = 32 << 10

func runFetchTrace(
    _ arguments: FetchTraceArguments, _ environment: Environment
) async throws -> ExitCode {
    guard let person = arguments.person else {
        throw UsageFailure(
            "--person is needed", hint: "it is \(inWords(TracePerson.all.map(\.name)))")
    }
    let trace = RefreshTraceGenerator.generate(
        person, seed: UInt64(arguments.seed), weeks: Int(arguments.weeks))
    try environment.output.write(trace.lines)
    return .clean
}

extension FetchSimulateArguments {
    /// The trace of the file, or of the person.
    fileprivate func read(_ environment: Environment) throws -> RefreshTrace {
        switch (trace, person) {
        case (let path?, nil):
            let file = try environment.fileStreams.open(path)
            var bytes: [UInt8] = []
            while bytes.count <= RefreshTraceReader.byteLimit {
                let piece = try file.read()
                guard !piece.isEmpty else { break }
                bytes += piece
            }
            return try RefreshTraceReader.read(bytes, name: path)
        case (nil, let person?):
            return RefreshTraceGenerator.generate(person, seed: UInt64(seed))
        case (nil, nil):
            throw UsageFailure(
                "a TRACE or --person is needed",
                hint: "a person is \(inWords(TracePerson.all.map(\.name)))")
        case (_?, _?): throw UsageFailure("TRACE and --person exclude each other")
        }
    }
}

extension RefreshReport {
    /// Writes it as a table for people.
    fileprivate func write(to environment: Environment) throws(Failure) {
        let name = trace.isEmpty ? "trace" : TerminalText.sanitized(trace)
        let head = "\(name): \(Quantity.text(days, "day")), seed \(seed)"
        try environment.output.write(environment.palette.paint(head, .bold) + "\n")
        var table = Listing(columns, names: nil, environment)
        for row in rows { try table.append(row) }
        try table.finish()
        var lines = LineWriter(environment.output)
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
