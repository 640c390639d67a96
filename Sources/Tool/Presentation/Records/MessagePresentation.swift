package import Base
package import Terminal
internal import Traffic
package import Views

/// How messages are written: for a program, in a table, or in full.
package struct MessagePresentation {
    package enum Form {
        case table
        case full
        case json
    }

    private let form: Form
    private let console: Console
    /// What times are relative to; `nil` for the first message.
    private var start: Timestamp?
    private var table: TableWriter
    private var lines: LineWriter
    package private(set) var hasMasked = false

    package init(_ form: Form, start: Timestamp?, to console: Console) {
        self.form = form
        self.start = start
        self.console = console
        lines = LineWriter(console.output)
        table = TableWriter(Self.columns, to: console.output, palette: console.palette)
    }

    package mutating func write(_ message: WholeMessage) throws(Failure) {
        if message.isMasked { hasMasked = true }
        let start = start ?? message.first.at
        self.start = start
        let time = "+" + Quantity.text(microseconds: message.first.at.microseconds(since: start))
        switch form {
        case .table: try writeRow(message, time)
        case .full: try writeWhole(message, time)
        case .json: try lines.write(message.json.line)
        }
    }

    package mutating func finish() throws(Failure) {
        try table.finish()
        try lines.flush()
    }

    // MARK: Table

    private static let columns = [
        TableWriter.Column(title: "number", isRight: true),
        TableWriter.Column(title: "time", isRight: true),
        TableWriter.Column(title: ""),
        TableWriter.Column(title: "kind"),
        TableWriter.Column(title: "exchange", isRight: true),
        TableWriter.Column(title: "size", isRight: true),
        TableWriter.Column(title: "content", isFlexible: true),
    ]

    private mutating func writeRow(_ message: WholeMessage, _ time: String) throws(Failure) {
        let first = message.first
        try table.append([
            TableWriter.Cell(number: first.number, .faint),
            TableWriter.Cell(time),
            TableWriter.Cell(arrow(first.direction), first.direction == .request ? .cyan : .green),
            TableWriter.Cell(first.kind.rawValue),
            TableWriter.Cell(first.exchange.map(String.init) ?? "-"),
            TableWriter.Cell(Quantity.text(byteCount: message.size)),
            TableWriter.Cell(preview(message)),
        ])
    }

    /// The content and the detail in a line of bounded width.
    private func preview(_ message: WholeMessage) -> String {
        var text = ""
        let start = message.content.prefix(Self.previewLimit * 4)
        let isCut = start.count < message.content.count
        if let readable = PrintableText(Array(start), isWhole: message.isWhole && !isCut) {
            text = Self.oneLine(readable.text)
        } else {
            text = start.prefix(Self.previewBytes).map { [$0].hex }.joined(separator: " ")
            if message.content.count > Self.previewBytes { text += " …" }
        }
        text = TerminalText.sanitized(text)
        let detail = message.detail.isEmpty ? "" : "(\(TerminalText.sanitized(message.detail)))"
        let parts = [text, detail].filter { !$0.isEmpty }
        return TerminalText.truncated(parts.joined(separator: "  "), columns: Self.previewLimit)
    }

    /// Line ends and tabs as C writes them; one at the end of the text is left out.
    private static func oneLine(_ text: String) -> String {
        var scalars = text.unicodeScalars[...]
        if scalars.last == "\n" { scalars.removeLast() }
        if scalars.last == "\r" { scalars.removeLast() }
        var result = ""
        for scalar in scalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    // MARK: In full

    private func writeWhole(_ message: WholeMessage, _ time: String) throws(Failure) {
        let first = message.first
        var title = "== message \(first.number): \(arrow(first.direction)) \(first.kind.rawValue), "
        title += "\(message.size) bytes, \(time)"
        if let exchange = first.exchange { title += ", exchange \(exchange)" }
        if !message.isWhole { title += ", the first \(message.content.count) bytes" }
        if !message.detail.isEmpty { title += ", \(TerminalText.sanitized(message.detail))" }
        try console.output.write(console.palette.paint(title, .bold) + "\n")
        guard !message.content.isEmpty else { return }
        if let readable = PrintableText(message.content, isWhole: message.isWhole) {
            try console.writeText([UInt8](readable.text.utf8))
        } else {
            try console.output.write(HexDump.render(message.content))
        }
    }

    /// In columns: what a person takes in at a glance; a terminal may leave less.
    private static let previewLimit = 120
    /// In bytes, of what is no text.
    private static let previewBytes = 16
}

/// From the client, or to it.
private func arrow(_ direction: Direction) -> String {
    direction == .request ? "→" : "←"
}
