internal import Base

/// The report for a browser: one page that loads nothing, runs nothing, and shows what was recorded
/// as text only.
package enum ComparisonHTML {
    package static func page(_ report: ComparisonReport) -> String {
        var page = opening(report)
        page += summary(report)
        page += timings(report.timings)
        for entry in report.entries { page += Self.entry(entry) }
        if report.omitted > 0 { page += "<p>\(report.omitted) more are not shown.</p>\n" }
        return page + "</main>\n</body>\n</html>\n"
    }

    /// The policy refuses every source, should a value ever get out of its place.
    private static func opening(_ report: ComparisonReport) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
        style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
        <meta name="referrer" content="no-referrer">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(escaped(report.left)) and \(escaped(report.right)) compared</title>
        <style>
        \(style)
        </style>
        </head>
        <body>
        <main>
        <h1>\(text(report.left)) → \(text(report.right))</h1>

        """
    }

    private static func summary(_ report: ComparisonReport) -> String {
        let counts = report.counts
        let rows = [
            ("exchanges on the left", counts.left), ("exchanges on the right", counts.right),
            ("equal", counts.equal), ("different", counts.different), ("added", counts.added),
            ("removed", counts.removed), ("in another order", counts.moved),
        ]
        let verdict =
            report.isInconclusive
            ? "There was nothing to compare."
            : report.isDifferent ? "The captures differ." : "The captures are the same."
        return "<p class=\"verdict\">\(verdict)</p>\n<table class=\"counts\">\n"
            + rows.map { "<tr><th scope=\"row\">\($0)</th><td>\($1)</td></tr>\n" }.joined()
            + "</table>\n"
    }

    private static func timings(_ timings: [ComparisonReport.Timing]) -> String {
        guard !timings.isEmpty else { return "" }
        let rows = timings.map { timing in
            let (left, right) = (timing.difference.left, timing.difference.right)
            return "<tr><td>\(text("\(timing.method) \(timing.authority)\(timing.path)"))</td>"
                + "<td>\(timing.difference.isSlower ? "slower" : "faster")</td>"
                + "<td>\(quantiles(left))</td><td>\(quantiles(right))</td></tr>\n"
        }
        return "<h2>Timing</h2>\n<table>\n<tr><th>place</th><th>change</th><th>left</th>"
            + "<th>right</th></tr>\n\(rows.joined())</table>\n"
    }

    private static func quantiles(_ quantiles: TimingDifference.Quantiles) -> String {
        "median \(quantiles.median) µs, nine of ten below \(quantiles.ninetieth) µs, "
            + "\(quantiles.count) exchanges"
    }

    private static func entry(_ entry: ComparisonReport.Entry) -> String {
        let (sign, name, kind) =
            entry.left == nil
            ? ("+", "added", "added")
            : entry.right == nil
                ? ("−", "removed", "removed")
                : entry.isDifferent ? ("≠", "changed", "changed") : ("=", "the same", "same")
        guard let exchange = entry.left ?? entry.right else { return "" }
        let numbers = [entry.left?.id, entry.right?.id].map { $0.map(String.init) ?? "" }
        var title = "<span class=\"sign\" title=\"\(name)\">\(sign)</span> "
        let place = numbers.filter { !$0.isEmpty }.joined(separator: " → ")
        title += "<span class=\"id\">\(place)</span> "
        title += "\(text(exchange.method)) \(text(exchange.url))"
        if entry.isMoved { title += " <em>in another order</em>" }
        if let repeats = entry.repeats { title += " <em>repeats \(repeats)</em>" }
        if entry.differences.isEmpty {
            return "<section class=\"\(kind)\"><h3>\(title)</h3></section>\n"
        }
        let rows = entry.differences.map(row).joined()
        let rest = entry.isCut ? "<p>There are more differences.</p>\n" : ""
        return "<section class=\"\(kind)\"><details\(entry.isDifferent ? " open" : "")>"
            + "<summary>\(title)</summary>\n<table>\n<tr><th>what</th><th>left</th><th>right</th>"
            + "</tr>\n\(rows)</table>\n\(rest)</details></section>\n"
    }

    private static func row(_ difference: Difference) -> String {
        let note = difference.isNote ? " class=\"note\"" : ""
        let start = "<tr\(note)><th scope=\"row\">\(text(difference.title))</th>"
        if let remark = difference.remark {
            return start + "<td colspan=\"2\"><em>\(remark)</em></td></tr>\n"
        }
        return start + cell(difference.left, "left") + cell(difference.right, "right") + "</tr>\n"
    }

    private static func cell(_ value: String?, _ side: String) -> String {
        guard let value else { return "<td class=\"none\"></td>" }
        return "<td class=\"\(side)\"><pre>\(text(value))</pre></td>"
    }

    // MARK: Escaping

    /// A recorded text on its own direction, so that it cannot turn what is around it.
    private static func text(_ text: String) -> String { "<bdi>\(escaped(text))</bdi>" }

    /// Every sign that means something in HTML, and what acts on a reader unseen, as a reference.
    private static func escaped(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 &- 0x20 < 0x5F && !references.contains($0) }) { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x26, 0x3C, 0x3E, 0x22, 0x27, 0x60: result += "&#\(scalar.value);"
            case 0x0A, 0x09: result.unicodeScalars.append(scalar)
            case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F,
                0xFEFF, 0xFFF9...0xFFFF, 0xE0000...0xE007F:
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// What is always written as a reference.
    private static let references = Array("&<>\"'`".utf8)

    private static let style = """
        :root { color-scheme: light dark; }
        body { font: 15px/1.45 system-ui, sans-serif; margin: 0; }
        main { max-width: 80rem; margin: 0 auto; padding: 1.5rem; }
        h1 { font-size: 1.3rem; } h3, summary { font-size: 1rem; font-weight: 600; margin: 0; }
        h1, h3, summary, td { overflow-wrap: anywhere; }
        section { border-left: 4px solid #888; margin: .6rem 0; padding: .4rem .8rem; }
        section.changed { border-color: #b8860b; } section.added { border-color: #2e8b57; }
        section.removed { border-color: #c0392b; }
        table { border-collapse: collapse; width: 100%; margin: .5rem 0; table-layout: fixed; }
        table.counts { width: auto; table-layout: auto; }
        th, td { text-align: left; vertical-align: top; padding: .25rem .6rem;
        border-top: 1px solid #8884; font-weight: normal; }
        pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .9em; }
        td.left { background: #c0392b1a; } td.right { background: #2e8b571a; }
        tr.note { opacity: .7; } .id { opacity: .7; } .verdict { font-weight: 600; }
        """
}
