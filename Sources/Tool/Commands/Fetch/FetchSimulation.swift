internal import Base
internal import CommandSyntax
internal import Presentation
internal import Refresh
internal import Terminal

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
        try report.write(to: environment.console)
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
