internal import Base

/// The report for a browser: one page that loads nothing, runs nothing, and shows what was recorded
/// as text only.
package struct ComparisonHTML {
    private var text = MarkupText()

    package static func page(_ report: ComparisonReport) -> [UInt8] {
        var page = ComparisonHTML()
        page.open(report)
        page.add(report.counts, of: report)
        page.add(report.timings)
        for entry in report.entries { page.add(entry) }
        if report.omitted > 0 { page.text += "<p>\(report.omitted) more are not shown.</p>\n" }
        page.text.endPage()
        return page.text.bytes
    }

    private mutating func open(_ report: ComparisonReport) {
        text.beginPage(title: "\(report.left) and \(report.right) compared", style: Self.style)
        text += "<h1>"
        text.append(report.left)
        text += " → "
        text.append(report.right)
        text += "</h1>\n"
    }

    private mutating func add(_ counts: ComparisonReport.Counts, of report: ComparisonReport) {
        let rows = [
            ("exchanges on the left", counts.left), ("exchanges on the right", counts.right),
            ("equal", counts.equal), ("different", counts.different), ("added", counts.added),
            ("removed", counts.removed), ("in another order", counts.moved),
        ]
        let verdict =
            report.isInconclusive
            ? "There was nothing to compare."
            : report.isDifferent ? "The captures differ." : "The captures are the same."
        text += "<p class=\"verdict\">\(verdict)</p>\n<table class=\"counts\">\n"
        for (name, count) in rows {
            text += "<tr><th scope=\"row\">\(name)</th><td>\(count)</td></tr>\n"
        }
        text += "</table>\n"
    }

    private mutating func add(_ timings: [ComparisonReport.Timing]) {
        guard !timings.isEmpty else { return }
        text += "<h2>Timing</h2>\n<table>\n<tr><th>place</th><th>change</th><th>left</th>"
        text += "<th>right</th></tr>\n"
        for timing in timings {
            let difference = timing.difference
            text += "<tr><td>"
            text.append("\(timing.method) \(timing.authority)\(timing.path)")
            text += "</td><td>\(difference.isSlower ? "slower" : "faster")</td>"
            text += "<td>\(Self.quantiles(difference.left))</td>"
            text += "<td>\(Self.quantiles(difference.right))</td></tr>\n"
        }
        text += "</table>\n"
    }

    private static func quantiles(_ quantiles: TimingDifference.Quantiles) -> String {
        "median \(quantiles.median) µs, nine of ten below \(quantiles.ninetieth) µs, "
            + "\(quantiles.count) exchanges"
    }

    // MARK: Exchanges

    private mutating func add(_ entry: ComparisonReport.Entry) {
        guard let exchange = entry.left ?? entry.right else { return }
        let kind =
            entry.left == nil
            ? "added" : entry.right == nil ? "removed" : entry.isDifferent ? "changed" : "same"
        text += "<section class=\"\(kind)\">"
        if entry.differences.isEmpty {
            text += "<h3>"
            addTitle(of: entry, exchange)
            text += "</h3></section>\n"
            return
        }
        text += entry.isDifferent ? "<details open><summary>" : "<details><summary>"
        addTitle(of: entry, exchange)
        text += "</summary>\n<table>\n<tr><th>what</th><th>left</th><th>right</th></tr>\n"
        for difference in entry.differences { add(difference) }
        text += "</table>\n"
        if entry.isCut { text += "<p>There are more differences.</p>\n" }
        text += "</details></section>\n"
    }

    private mutating func addTitle(
        of entry: ComparisonReport.Entry, _ exchange: ComparisonReport.Exchange
    ) {
        let (sign, name) =
            entry.left == nil
            ? ("+", "added")
            : entry.right == nil
                ? ("−", "removed") : entry.isDifferent ? ("≠", "changed") : ("=", "the same")
        text += "<span class=\"sign\" title=\"\(name)\">\(sign)</span> <span class=\"id\">"
        text += "\(exchange.id)"
        if entry.left != nil, let right = entry.right { text += " → \(right.id)" }
        text += "</span> "
        text.append(exchange.method)
        text += " "
        text.append(exchange.url)
        if entry.isMoved { text += " <em>in another order</em>" }
        if let repeats = entry.repeats { text += " <em>repeats \(repeats)</em>" }
    }

    private mutating func add(_ difference: Difference) {
        text += difference.isNote ? "<tr class=\"note\">" : "<tr>"
        text += "<th scope=\"row\">"
        text.append(difference.title)
        text += "</th>"
        if let remark = difference.remark {
            text += "<td colspan=\"2\"><em>\(remark)</em></td></tr>\n"
            return
        }
        addCell(difference.left, "<td class=\"left\"><pre>")
        addCell(difference.right, "<td class=\"right\"><pre>")
        text += "</tr>\n"
    }

    private mutating func addCell(_ value: String?, _ start: String) {
        guard let value else {
            text += "<td class=\"none\"></td>"
            return
        }
        text += start
        text.append(value)
        text += "</pre></td>"
    }

    private static let style = """
        section.changed { border-color: #b8860b; } section.added { border-color: #2e8b57; }
        section.removed { border-color: #c0392b; }
        table { table-layout: fixed; } table.counts { width: auto; table-layout: auto; }
        pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .9em; }
        td.left { background: #c0392b1a; } td.right { background: #2e8b571a; }
        tr.note { opacity: .7; } .id { opacity: .7; }
        """
}
