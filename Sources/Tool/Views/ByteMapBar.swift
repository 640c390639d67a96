package import TransferAnalysis

/// Which bytes of a resource came, in a line of text.
package enum ByteMapBar {
    /// `[####==..+!]`: `#` came, `=` came more than once, `!` came more than once and was not the
    /// same, `+` came in part, `.` did not; empty if nothing is known of the size.
    package static func render(_ version: TransferVersion, width: Int) -> String {
        let total = version.total ?? version.held.last?.upperBound ?? 0
        guard total > 0 else { return "" }
        let cells = Int(min(Int64(width), total))
        var bar = "["
        var start: Int64 = 0
        for index in 1...cells {
            let end =
                index == cells ? total : Int64(Double(total) / Double(cells) * Double(index))
            bar.append(mark(of: start..<max(start, end), version))
            start = max(start, end)
        }
        return bar + (version.total == nil ? "?" : "]")
    }

    private static func mark(of cell: Range<Int64>, _ version: TransferVersion) -> Character {
        if covered(cell, by: version.conflicting) > 0 { return "!" }
        let held = covered(cell, by: version.held)
        if held == 0 { return "." }
        if held < cell.upperBound - cell.lowerBound { return "+" }
        return covered(cell, by: version.twice) > 0 ? "=" : "#"
    }

    private static func covered(_ cell: Range<Int64>, by ranges: [Range<Int64>]) -> Int64 {
        ranges.reduce(0) {
            let part = $1.clamped(to: cell)
            return $0 + (part.upperBound - part.lowerBound)
        }
    }
}
