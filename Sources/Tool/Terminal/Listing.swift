package import Base

/// A table of records whose columns have names, so that who reads it chooses them and their order.
package struct Listing<Record> {
    package struct Column: Sendable {
        package let name: String
        let column: TableWriter.Column
        let cell: @Sendable (Record) -> TableWriter.Cell

        package init(
            _ name: String, title: String? = nil, isRight: Bool = false, isFlexible: Bool = false,
            rank: Int = 0, _ cell: @escaping @Sendable (Record) -> TableWriter.Cell
        ) {
            self.name = name
            self.cell = cell
            column = TableWriter.Column(
                title: title ?? name, isRight: isRight, isFlexible: isFlexible, rank: rank)
        }
    }

    @usableFromInline let cells: [@Sendable (Record) -> TableWriter.Cell]
    @usableFromInline var table: TableWriter

    /// - Parameter names: of the columns that are wanted, in their order, whatever the terminal's
    ///   width; `nil` for those of `all` that fit.
    package init(_ all: [Column], names: [String]?, to console: Console) {
        let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
        let columns = names.map { $0.compactMap { byName[$0] } } ?? all
        cells = columns.map(\.cell)
        let isChosen = names != nil
        table = TableWriter(
            columns.map { column in
                var column = column.column
                if isChosen { column.rank = 0 }
                return column
            }, to: console.output, palette: console.palette)
    }

    /// Inlinable, so that it is made for each kind of record.
    @inlinable package mutating func append(_ record: Record, note: TableWriter.Cell? = nil)
        throws(Failure)
    {
        // A copy, since `self` changes while the span is read; a span, since an iterator retains each.
        let copy = cells
        let span = copy.span
        for index in span.indices { table.place(span[index](record)) }
        try table.endRow(note: note)
    }

    /// Writes what is held.
    package mutating func finish() throws(Failure) { try table.finish() }
}
