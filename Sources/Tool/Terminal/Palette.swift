/// The colours of a terminal (ECMA-48 SGR); none where nobody wants them.
package struct Palette: Equatable, Sendable {
    package let isColoured: Bool

    package enum Style: String, Sendable {
        case bold = "1"
        case faint = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case cyan = "36"

        fileprivate var start: String { "\u{1B}[\(rawValue)m" }
        fileprivate static let end = "\u{1B}[0m"
    }

    package static let plain = Palette(isColoured: false)

    package init(isColoured: Bool) {
        self.isColoured = isColoured
    }

    /// Colours for a terminal, unless `NO_COLOR` is set to anything (no-color.org) or the terminal
    /// is a `dumb` one.
    package init(for stream: OutputStream, variables: [String: String]) {
        isColoured =
            stream.isTerminal && (variables["NO_COLOR"] ?? "").isEmpty
            && variables["TERM"] != "dumb"
    }

    package func paint(_ text: String, _ style: Style?) -> String {
        guard isColoured, let style, !text.isEmpty else { return text }
        return style.start + text + Style.end
    }

    /// Writes a piece of a line, which is not empty.
    func paint(_ text: Span<UInt8>, _ style: Style?, to lines: inout LineWriter) {
        guard isColoured, let style else { return lines.append(text) }
        lines.append(style.start.utf8)
        lines.append(text)
        lines.append(Style.end.utf8)
    }
}
