package import Base

/// Writes rows in aligned columns, a batch at a time, so that a long table needs little memory.
///
/// A column that has become wider stays so: later batches align with one another.
package struct TableWriter {
    package struct Column: Sendable {
        let title: String
        var isRight = false
        /// Whether the column is cut to what the terminal leaves it; one column of a table at most.
        var isFlexible = false
        /// Columns of the highest rank go first where a terminal is too narrow; 0 always stays.
        var rank = 0

        package init(
            title: String, isRight: Bool = false, isFlexible: Bool = false, rank: Int = 0
        ) {
            self.title = title
            self.isRight = isRight
            self.isFlexible = isFlexible
            self.rank = rank
        }
    }

    package struct Cell: Sendable {
        let text: String
        let style: Palette.Style?
        /// In columns of the terminal.
        let width: Int

        package init(_ text: String, _ style: Palette.Style? = nil) {
            self.style = style
            if text.isPlainASCII {
                self.text = text
                width = text.utf8.count
            } else {
                self.text = TerminalText.sanitized(text)
                width = TerminalText.width(self.text)
            }
        }
    }

    private struct Row {
        let cells: [Cell]
        let note: Cell?
    }

    private let columns: [Column]
    private let palette: Palette
    /// `nil` where nothing is cut.
    private let totalWidth: Int?
    private var lines: LineWriter
    private var widths: [Int]
    private var batch: [Row] = []
    private var hasHeader = false
    /// The columns that are written, told by the first batch.
    private var shown: [Int] = []

    package init(_ columns: [Column], to stream: OutputStream, palette: Palette) {
        self.columns = columns
        self.palette = palette
        totalWidth = stream.isTerminal ? stream.columns : nil
        lines = LineWriter(stream)
        widths = columns.map { TerminalText.width($0.title) }
    }

    /// Adds a row of as many cells as there are columns; `note` has a line of its own below it.
    package mutating func append(_ cells: [Cell], note: Cell? = nil) throws(Failure) {
        precondition(cells.count == columns.count, "a cell a column")
        batch.append(Row(cells: cells, note: note))
        if batch.count >= Self.batchLimit { try writeBatch() }
    }

    /// Writes what is held; a table without rows has no header either.
    package mutating func finish() throws(Failure) {
        try writeBatch()
        try lines.flush()
    }

    private mutating func writeBatch() throws(Failure) {
        guard !batch.isEmpty else { return }
        for row in batch {
            for (index, cell) in row.cells.enumerated() {
                widths[index] = max(widths[index], cell.width)
            }
        }
        if !hasHeader { shown = fittingColumns() }
        let limits = columnLimits()
        if !hasHeader {
            try lines.write(line(columns.map { Cell($0.title, .faint) }, limits))
            hasHeader = true
        }
        for row in batch {
            try lines.write(line(row.cells, limits))
            if let note = row.note {
                try lines.write("    " + palette.paint(note.text, note.style))
            }
        }
        batch.removeAll(keepingCapacity: true)
    }

    /// All columns, without those that leave the flexible one too little of the terminal.
    private func fittingColumns() -> [Int] {
        var fitting = Array(columns.indices)
        guard let totalWidth else { return fitting }
        while width(of: fitting) > totalWidth,
            let last = fitting.max(by: { columns[$0].rank < columns[$1].rank }),
            columns[last].rank > 0
        {
            fitting.removeAll { $0 == last }
        }
        return fitting
    }

    /// What columns take, the flexible one at what makes it worth reading.
    private func width(of columns: [Int]) -> Int {
        let least = columns.map {
            self.columns[$0].isFlexible ? min(widths[$0], Self.usefulWidth) : widths[$0]
        }
        return least.reduce(0, +) + (columns.count - 1) * gap.count
    }

    private func columnLimits() -> [Int] {
        var limits = widths
        guard let flexible = columns.firstIndex(where: \.isFlexible) else { return limits }
        if let totalWidth {
            let others =
                shown.reduce(0) { $0 + widths[$1] } - widths[flexible]
                + (shown.count - 1) * gap.count
            limits[flexible] = min(widths[flexible], max(Self.leastWidth, totalWidth - others))
        } else {
            limits[flexible] = min(widths[flexible], Self.paddingLimit)
        }
        return limits
    }

    private func line(_ cells: [Cell], _ limits: [Int]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(limits.reduce(gap.count * limits.count, +))
        var owed = 0
        for index in shown {
            let cell = cells[index]
            let isCut =
                totalWidth != nil && columns[index].isFlexible && cell.width > limits[index]
            let text =
                isCut ? TerminalText.abridged(cell.text, columns: limits[index]) : cell.text
            let width = isCut ? TerminalText.width(text) : cell.width
            let padding = max(0, limits[index] - width)
            if columns[index].isRight { owed += padding }
            if !text.isEmpty {
                // Spaces are owed until a text follows, so that no line ends in them.
                result += repeatElement(UInt8(ascii: " "), count: owed)
                result += palette.paint(text, cell.style).utf8
                owed = 0
            }
            if !columns[index].isRight { owed += padding }
            owed += gap.count
        }
        return result
    }

    private static let batchLimit = 500
    private static let leastWidth = 20
    private static let usefulWidth = 44
    /// In a file, nothing is cut, and a longer text moves the rest of its own line only.
    private static let paddingLimit = 60
}

private let gap = "  "
