internal import Audit
internal import Base
internal import Catalogue
internal import Terminal

/// A row for each probe, a column for each client and destination.
///
/// On a narrow terminal, columns are numbered and explained above, and as many as do not fit have
/// a table of their own below.
struct AuditMatrix {
    private let places: [AuditResult.Place]
    private let probes: [ProbeDescription]
    private let verdicts: [Key: ProbeVerdict]
    private let stream: OutputStream
    private let palette: Palette

    private struct Key: Hashable {
        let place: AuditResult.Place
        let probe: String
    }

    init(_ results: [AuditResult], to stream: OutputStream, palette: Palette) {
        places = results.places
        var seen: Set<String> = []
        let probes = results.map(\.probe).filter { seen.insert($0.identifier).inserted }
        self.probes = ProbeFamily.allCases.flatMap { family in
            probes.filter { $0.family == family }
        }
        verdicts = Dictionary(
            results.map { (Key(place: $0.place, probe: $0.probe.identifier), $0.verdict) },
            uniquingKeysWith: { $1 })
        self.stream = stream
        self.palette = palette
    }

    func write() throws(Failure) {
        guard !places.isEmpty else { return }
        let names = places.map { TerminalText.sanitized($0.text) }
        if width(of: names) <= available {
            try write(places, titles: names)
            return
        }
        let numbers = places.indices.map { String($0 + 1) }
        for (number, name) in zip(numbers, names) { try stream.write("\(number)  \(name)\n") }
        try stream.write("\n")
        var start = 0
        while start < places.count {
            var end = start + 1
            while end < places.count, width(of: Array(numbers[start...end])) <= available {
                end += 1
            }
            if start > 0 { try stream.write("\n") }
            try write(Array(places[start..<end]), titles: Array(numbers[start..<end]))
            start = end
        }
    }

    private func write(_ places: [AuditResult.Place], titles: [String]) throws(Failure) {
        let hasWhat = width(of: titles) + gap + Self.leastWhat <= available
        var columns = [TableWriter.Column(title: "probe")]
        columns += titles.map { TableWriter.Column(title: $0) }
        if hasWhat { columns.append(TableWriter.Column(title: "what", isFlexible: true)) }
        var table = TableWriter(columns, to: stream, palette: palette)
        var family: ProbeFamily?
        for probe in probes {
            let judged = places.map { verdicts[Key(place: $0, probe: probe.identifier)] }
            guard judged.contains(where: { $0 != nil }) else { continue }
            if probe.family != family {
                family = probe.family
                let blank = [TableWriter.Cell](repeating: .init(""), count: columns.count - 1)
                try table.append([.init(probe.family.rawValue, .bold)] + blank)
            }
            var cells = [TableWriter.Cell("  " + probe.identifier)]
            cells += judged.map(Self.cell)
            if hasWhat { cells.append(.init(probe.title)) }
            try table.append(cells)
        }
        try table.finish()
    }

    /// A word as well as a sign: colours say nothing that is not said without them.
    private static func cell(_ verdict: ProbeVerdict?) -> TableWriter.Cell {
        switch verdict {
        case .pass: .init("+ pass", .green)
        case .fail: .init("x FAIL", .red)
        case .warn: .init("! warn", .yellow)
        case .note: .init("i note")
        case .inconclusive: .init("? unknown", .yellow)
        case .skipped: .init("- skipped", .faint)
        case nil: .init("")
        }
    }

    private var available: Int { stream.isTerminal ? stream.columns ?? .max : .max }

    private func width(of titles: [String]) -> Int {
        let longest = probes.map { $0.identifier.count + 2 }.max() ?? 0
        return titles.reduce(longest) {
            $0 + gap + max(Self.longestWord, TerminalText.width($1))
        }
    }

    private let gap = 2
    private static let longestWord = 9
    private static let leastWhat = 20
}
