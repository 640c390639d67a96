internal import Base

/// A table of records whose columns have names, so that who reads it chooses them and their order.
struct Listing<Record> {
    struct Column: Sendable {
        let name: String
        let column: TableWriter.Column
        let cell: @Sendable (Record) -> TableWriter.Cell

        init(
            _ name: String, title: String? = nil, isRight: Bool = false, isFlexible: Bool = false,
            rank: Int = 0, _ cell: @escaping @Sendable (Record) -> TableWriter.Cell
        ) {
            self.name = name
            self.cell = cell
            column = TableWriter.Column(
                title: title ?? name, isRight: isRight, isFlexible: isFlexible, rank: rank)
        }
    }

    private let columns: [Column]
    private var table: TableWriter

    /// - Parameter names: of the columns that are wanted, in their order, whatever the terminal's
    ///   width; `nil` for those of `all` that fit.
    init(_ all: [Column], names: [String]?, _ environment: Environment) {
        let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
        columns = names.map { $0.compactMap { byName[$0] } } ?? all
        let isChosen = names != nil
        table = TableWriter(
            columns.map { column in
                var column = column.column
                if isChosen { column.rank = 0 }
                return column
            }, to: environment.output, palette: environment.palette)
    }

    mutating func append(_ record: Record, note: TableWriter.Cell? = nil) throws(Failure) {
        try table.append(columns.map { $0.cell(record) }, note: note)
    }

    /// Writes what is held.
    mutating func finish() throws(Failure) { try table.finish() }
}

extension ValueSyntax where Value == [String]? {
    /// Some of these names, in any order, each once.
    static func columns(_ names: [String]) -> ValueSyntax {
        ValueSyntax("NAMES") { text throws(UsageFailure) in
            let wanted = text.split(separator: ",", omittingEmptySubsequences: false).map(
                String.init)
            for (index, name) in wanted.enumerated() {
                guard names.contains(name) else {
                    throw UsageFailure(
                        "there is no column '\(name)'",
                        hint: NearestName.find(name, among: names).map { "did you mean '\($0)'?" }
                            ?? "the columns are \(names.joined(separator: ", "))")
                }
                guard !wanted[..<index].contains(name) else {
                    throw UsageFailure("the column '\(name)' is named twice")
                }
            }
            return wanted
        }
    }
}
