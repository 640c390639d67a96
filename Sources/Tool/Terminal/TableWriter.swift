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
        /// As it was recorded: the table shows it with what acts on a reader escaped.
        fileprivate let content: Content
        fileprivate let style: Palette.Style?

        fileprivate enum Content {
            case text(String)
            case bytes([UInt8])
            case number(Int64)
        }

        package init(_ text: String, _ style: Palette.Style? = nil) {
            content = .text(text)
            self.style = style
        }

        /// Text that is held as bytes; those that are no UTF-8 become U+FFFD.
        package init(bytes: [UInt8], _ style: Palette.Style? = nil) {
            content = .bytes(bytes)
            self.style = style
        }

        package init(number: Int64, _ style: Palette.Style? = nil) {
            content = .number(number)
            self.style = style
        }
    }

    /// A cell of the batch; its text ends at `end` in `texts`.
    private struct PlacedCell {
        let end: Int
        /// In columns of the terminal.
        let width: Int
        let style: Palette.Style?
    }

    private let columns: [Column]
    private let palette: Palette
    /// `nil` where nothing is cut.
    private let totalWidth: Int?
    private var lines: LineWriter
    private var widths: [Int]
    /// The batch: its cells row by row, their texts one after another, and the notes by the numbers of
    /// their rows.
    private var cells: [PlacedCell] = []
    private var texts: [UInt8] = []
    /// Of the next cell.
    private var column = 0
    private var notes: [Int: Cell] = [:]
    /// Whether the batch is the first, whose first row is the header.
    private var isFirst = true
    /// The columns that are written, told by the first batch.
    private var shown: [Int] = []

    package init(_ columns: [Column], to stream: OutputStream, palette: Palette) {
        precondition(!columns.isEmpty, "a table has columns")
        self.columns = columns
        self.palette = palette
        totalWidth = stream.isTerminal ? stream.columns : nil
        lines = LineWriter(stream)
        widths = columns.map { _ in 0 }
        for column in columns { place(Cell(column.title, .faint)) }
    }

    /// Adds a row of as many cells as there are columns; `note` has a line of its own below it.
    package mutating func append(_ cells: [Cell], note: Cell? = nil) throws(Failure) {
        for cell in cells { place(cell) }
        try endRow(note: note)
    }

    /// Adds the next cell of a row.
    @usableFromInline mutating func place(_ cell: Cell) {
        let width = cell.content.append(to: &texts)
        if widths[column] < width { widths[column] = width }
        column = column + 1 < columns.count ? column + 1 : 0
        cells.append(PlacedCell(end: texts.count, width: width, style: cell.style))
    }

    /// Ends a row of which all cells were placed.
    @usableFromInline mutating func endRow(note: Cell?) throws(Failure) {
        precondition(column == 0, "a cell a column")
        if let note { notes[rowCount - 1] = note }
        if recordCount >= Self.batchLimit { try writeBatch() }
    }

    /// Writes what is held; a table without rows has no header either.
    package mutating func finish() throws(Failure) {
        try writeBatch()
        try lines.flush()
    }

    private var rowCount: Int { cells.count / columns.count }
    /// Without the header.
    private var recordCount: Int { rowCount - (isFirst ? 1 : 0) }

    private mutating func writeBatch() throws(Failure) {
        guard recordCount > 0 else { return }
        if isFirst { shown = fittingColumns() }
        isFirst = false
        let limits = columnLimits()
        for row in 0..<rowCount {
            try writeLine(from: row * columns.count, limits)
            if let note = notes[row] {
                var text: [UInt8] = []
                _ = note.content.append(to: &text)
                try lines.write("    " + palette.paint(text.text, note.style))
            }
        }
        cells.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
        notes.removeAll(keepingCapacity: true)
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
        return least.reduce(0, +) + (columns.count - 1) * gap
    }

    private func columnLimits() -> [Int] {
        var limits = widths
        guard let flexible = columns.firstIndex(where: \.isFlexible) else { return limits }
        if let totalWidth {
            let others =
                shown.reduce(0) { $0 + widths[$1] } - widths[flexible]
                + (shown.count - 1) * gap
            limits[flexible] = min(widths[flexible], max(Self.leastWidth, totalWidth - others))
        } else {
            limits[flexible] = min(widths[flexible], Self.paddingLimit)
        }
        return limits
    }

    /// - Parameter first: the place of the row's first cell.
    private mutating func writeLine(from first: Int, _ limits: [Int]) throws(Failure) {
        // Copies, since `lines` changes while parts of the batch are lent to it.
        let (cells, texts) = (cells, texts)
        // Spaces are owed until a text follows, so that no line ends in them.
        var owed = 0
        for index in shown {
            let cell = cells[first + index]
            let start = first + index == 0 ? 0 : cells[first + index - 1].end
            var abridged: [UInt8]?
            var width = cell.width
            if totalWidth != nil, columns[index].isFlexible, width > limits[index] {
                let text = TerminalText.abridged(
                    texts[start..<cell.end].text, columns: limits[index])
                width = TerminalText.width(text)
                abridged = Array(text.utf8)
            }
            let padding = max(0, limits[index] - width)
            if columns[index].isRight { owed += padding }
            if start < cell.end {
                lines.append(spaces: owed)
                owed = 0
                if let abridged {
                    palette.paint(abridged.span, cell.style, to: &lines)
                } else {
                    palette.paint(
                        texts.span.extracting(start..<cell.end), cell.style, to: &lines)
                }
            }
            if !columns[index].isRight { owed += padding }
            owed += gap
        }
        try lines.endLine()
    }

    private static let batchLimit = 500
    private static let leastWidth = 20
    private static let usefulWidth = 44
    /// In a file, nothing is cut, and a longer text moves the rest of its own line only.
    private static let paddingLimit = 60
}

extension TableWriter.Cell.Content {
    /// Adds what a terminal shows as it is; returns how many columns of it that takes.
    fileprivate func append(to texts: inout [UInt8]) -> Int {
        let start = texts.count
        switch self {
        case .text(let text): texts += text.utf8
        case .bytes(let bytes): texts += bytes
        case .number(let number):
            ShortText(number).write(to: &texts)
            return texts.count - start
        }
        guard !texts.span.extracting(start...).isPlainASCII else { return texts.count - start }
        let shown = TerminalText.sanitized(texts[start...].text)
        texts.replaceSubrange(start..., with: shown.utf8)
        return TerminalText.width(shown)
    }
}

/// Between two columns, in spaces.
private let gap = 2
