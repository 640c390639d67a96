internal import Base

/// Tells the lines of two texts apart.
enum TextDifference {
    /// - Parameters:
    ///   - left: as it may be shown.
    ///   - limit: how many runs of lines are told.
    static func differences(
        _ left: [UInt8], _ right: [UInt8], side: Difference.Side, limit: Int
    ) -> [Difference] {
        let (before, after) = (lines(of: left), lines(of: right))
        let runs = SequenceDifference.runs(before, after)
        if runs.isEmpty {
            guard left != right else { return [] }
            return [
                Difference(
                    side, .text, "line ends", .changed, left: nil, right: nil, isNote: true)
            ]
        }
        return runs.prefix(limit + 1).map { run in
            Difference(
                side, .text, path(of: run),
                from: run.left.isEmpty ? nil : shown(before[run.left]),
                to: run.right.isEmpty ? nil : shown(after[run.right]))
        }
    }

    /// Where a run is: lines of the left text, or the place on the right of what is only there.
    private static func path(of run: SequenceDifference.Run) -> String {
        let lines = run.left.isEmpty ? run.right : run.left
        return lines.count == 1
            ? "line \(lines.lowerBound + 1)" : "lines \(lines.lowerBound + 1)-\(lines.upperBound)"
    }

    private static func shown(_ lines: ArraySlice<Line>) -> String {
        var texts = lines.prefix(lineLimit).map { shownText($0.bytes) }
        if lines.count > lineLimit { texts.append("… \(lines.count - lineLimit) more lines") }
        return texts.joined(separator: "\n")
    }

    private static func lines(of text: [UInt8]) -> [Line] {
        var rest = text[...]
        if rest.last == UInt8(ascii: "\n") { rest.removeLast() }
        if rest.isEmpty { return [] }
        return rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            Line(bytes: $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0)
        }
    }

    /// How many lines of a run are shown.
    private static let lineLimit = 20
}

/// A line without its end.
private struct Line: Hashable {
    let bytes: ArraySlice<UInt8>

    func hash(into hasher: inout Hasher) {
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    static func == (left: Line, right: Line) -> Bool {
        left.bytes.elementsEqual(right.bytes)
    }
}
