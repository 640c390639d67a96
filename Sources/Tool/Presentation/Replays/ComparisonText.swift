package import Base
package import Comparison
package import Terminal

/// The report of `replay diff` for a person.
package struct ComparisonText {
    private let palette: Palette
    private var lines: LineWriter

    package init(to console: Console) {
        palette = console.palette
        lines = LineWriter(console.output)
    }

    package mutating func write(_ report: ComparisonReport) throws(Failure) {
        for entry in report.entries { try write(entry) }
        if report.omitted > 0 { try lines.write("… \(report.omitted) more are not listed") }
        for timing in report.timings { try write(timing) }
        if !report.entries.isEmpty || !report.timings.isEmpty { try lines.write("") }
        try lines.write(summary(report))
        try lines.flush()
    }

    private mutating func write(_ entry: ComparisonReport.Entry) throws(Failure) {
        guard let exchange = entry.left ?? entry.right else { return }
        let (sign, style): (String, Palette.Style?) =
            entry.left == nil
            ? ("+", .green)
            : entry.right == nil ? ("-", .red) : entry.isDifferent ? ("~", .yellow) : ("=", nil)
        var numbers = "#\(exchange.id)"
        if entry.left != nil, let right = entry.right { numbers += " → #\(right.id)" }
        var remarks: [String] = []
        if entry.left == nil || entry.right == nil, let status = exchange.status {
            remarks.append(String(status))
        }
        if let repeats = entry.repeats { remarks.append("repeats #\(repeats)") }
        if entry.isMoved { remarks.append("in another order") }
        let remark = remarks.isEmpty ? "" : "  (\(remarks.joined(separator: ", ")))"
        let name = TerminalText.sanitized("\(exchange.method) \(exchange.url)")
        try lines.write(
            palette.paint(sign, style) + " " + palette.paint(numbers, .faint) + "  "
                + palette.paint(name, .bold) + remark)
        for difference in entry.differences { try write(difference) }
        if entry.isCut { try lines.write("    … there are more differences") }
    }

    private mutating func write(_ difference: Difference) throws(Failure) {
        let title = TerminalText.sanitized(difference.title)
        let mark = difference.isNote ? " (note)" : ""
        if let remark = difference.remark {
            return try lines.write("    \(title): \(remark)\(mark)")
        }
        let before = Self.shown(difference.left)
        let after = Self.shown(difference.right)
        if before.count <= 1, after.count <= 1 {
            let left = before.first.map { palette.paint($0, .red) } ?? "absent"
            let right = after.first.map { palette.paint($0, .green) } ?? "absent"
            return try lines.write("    \(title): \(left) → \(right)\(mark)")
        }
        try lines.write("    \(title):\(mark)")
        for line in before { try lines.write("      " + palette.paint("- " + line, .red)) }
        for line in after { try lines.write("      " + palette.paint("+ " + line, .green)) }
    }

    /// The lines of a value; an empty value is told from one that is absent.
    private static func shown(_ value: String?) -> [String] {
        guard let value else { return [] }
        if value.isEmpty { return ["empty"] }
        if value.utf8.allSatisfy({ $0 &- 0x20 < 0x5F }) { return [value] }
        return value.split(separator: "\n", omittingEmptySubsequences: false).map {
            let columns = $0.split(separator: "\t", omittingEmptySubsequences: false)
            return columns.map { TerminalText.sanitized(String($0)) }.joined(separator: "\t")
        }
    }

    private mutating func write(_ timing: ComparisonReport.Timing) throws(Failure) {
        let (left, right) = (timing.difference.left, timing.difference.right)
        let name = TerminalText.sanitized("\(timing.method) \(timing.authority)\(timing.path)")
        let word = timing.difference.isSlower ? "slower" : "faster"
        let text =
            "median \(Quantity.text(microseconds: left.median)) → "
            + "\(Quantity.text(microseconds: right.median)), nine of ten below "
            + "\(Quantity.text(microseconds: left.ninetieth)) → "
            + "\(Quantity.text(microseconds: right.ninetieth))"
        try lines.write("\(palette.paint(word, .cyan))  \(name)  \(text)")
    }

    private func summary(_ report: ComparisonReport) -> String {
        let counts = report.counts
        if report.isInconclusive {
            return "nothing to compare: \(counts.left) exchanges on the left,"
                + " \(counts.right) on the right"
        }
        var text =
            "\(counts.different) different, \(counts.added) added, \(counts.removed) removed,"
            + " \(counts.equal) equal"
        if counts.noted > 0 { text += ", \(counts.noted) of these with notes" }
        if counts.moved > 0 { text += "; \(counts.moved) in another order" }
        return text
    }
}
