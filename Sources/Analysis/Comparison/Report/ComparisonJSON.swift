package import Base

/// The report for programs: one document in the schema `sallyport.diff/1`.
package enum ComparisonJSON {
    package static func document(_ report: ComparisonReport) -> JSONText {
        let counts = report.counts
        return [
            "schema": "sallyport.diff/1",
            "left": .string(report.left),
            "right": .string(report.right),
            "verdict": .string(
                report.isInconclusive ? "inconclusive" : report.isDifferent ? "different" : "equal"),
            "counts": [
                "left": .integer(Int64(counts.left)),
                "right": .integer(Int64(counts.right)),
                "equal": .integer(Int64(counts.equal)),
                "different": .integer(Int64(counts.different)),
                "added": .integer(Int64(counts.added)),
                "removed": .integer(Int64(counts.removed)),
                "moved": .integer(Int64(counts.moved)),
            ],
            "exchanges": .each(report.entries, entry),
            "omitted": .integer(Int64(report.omitted)),
            "timing": .array(report.timings.map(timing)),
        ]
    }

    private static func entry(_ entry: ComparisonReport.Entry) -> JSONText {
        let change =
            entry.left == nil
            ? "added" : entry.right == nil ? "removed" : entry.isDifferent ? "changed" : "same"
        return [
            "change": .string(change),
            "left": entry.left.map(exchange) ?? .null,
            "right": entry.right.map(exchange) ?? .null,
            "moved": .boolean(entry.isMoved),
            "repeats": .optional(entry.repeats),
            "differences": .array(entry.differences.map(difference)),
            "cut": .boolean(entry.isCut),
        ]
    }

    private static func exchange(_ exchange: ComparisonReport.Exchange) -> JSONText {
        [
            "id": .integer(exchange.id),
            "method": .string(exchange.method),
            "url": .string(exchange.url),
            "status": .optional(exchange.status),
        ]
    }

    private static func difference(_ difference: Difference) -> JSONText {
        [
            "side": .string(difference.side.rawValue),
            "kind": .string(difference.kind.rawValue),
            "message": .optional(difference.message),
            "path": .string(difference.path),
            "change": .string(difference.change.rawValue),
            "left": .optional(difference.left),
            "right": .optional(difference.right),
            "masked": .boolean(difference.isMasked),
            "maskedBytes": difference.maskedCounts.map { counts in
                Set(counts).count == 1 ? .null : .array(counts.map { .integer(Int64($0)) })
            } ?? .null,
            "note": .boolean(difference.isNote),
        ]
    }

    private static func timing(_ timing: ComparisonReport.Timing) -> JSONText {
        [
            "method": .string(timing.method),
            "authority": .string(timing.authority),
            "path": .string(timing.path),
            "change": .string(timing.difference.isSlower ? "slower" : "faster"),
            "left": quantiles(timing.difference.left),
            "right": quantiles(timing.difference.right),
        ]
    }

    private static func quantiles(_ quantiles: TimingDifference.Quantiles) -> JSONText {
        [
            "count": .integer(Int64(quantiles.count)),
            "medianMs": .thousandths(quantiles.median),
            "p90Ms": .thousandths(quantiles.ninetieth),
        ]
    }
}
