package import Base

/// How far a long run has come, redrawn in place; on a terminal only, and not for a short run.
package struct ProgressBar {
    /// What is counted.
    package enum Unit {
        case items
        case bytes
    }

    private let stream: OutputStream
    private var title: String
    private var total: Int64
    private let unit: Unit
    private let clock: @Sendable () -> MonotonicTime
    private var nextDrawing: UInt64
    private var isDrawn = false

    package init(
        _ title: String, total: Int64, in unit: Unit = .items, on stream: OutputStream,
        clock: @escaping @Sendable () -> MonotonicTime
    ) {
        self.title = title
        self.total = total
        self.unit = unit
        self.stream = stream
        self.clock = clock
        nextDrawing = clock().nanoseconds &+ Self.patience
    }

    /// - Parameters:
    ///   - total: how much there is, if that is not known from the start.
    ///   - title: another one than before, which is drawn at once.
    ///   - pace: how fast it goes, which stands at the end.
    package mutating func advance(
        to done: Int64, of total: Int64? = nil, titled title: String? = nil, pace: String? = nil
    ) throws(Failure) {
        self.total = total ?? self.total
        let isRetitled = isDrawn && title != nil && title != self.title
        self.title = title ?? self.title
        guard stream.isTerminal, isRetitled || clock().nanoseconds >= nextDrawing else { return }
        nextDrawing = clock().nanoseconds &+ Self.interval
        isDrawn = true
        let columns = (stream.columns ?? 80) - 1
        let bar = Self.render(
            self.title, done: done, total: self.total, in: unit, pace: pace, columns: columns)
        try stream.write("\r" + bar)
    }

    /// Removes the bar.
    package mutating func finish() throws(Failure) {
        if isDrawn { try stream.write("\r\u{1B}[K") }
        isDrawn = false
    }

    /// `checking [#####     ]  50%  500/1000`, as wide as `columns`; its parts keep their places.
    static func render(
        _ title: String, done: Int64, total: Int64, in unit: Unit = .items, pace: String? = nil,
        columns: Int
    ) -> String {
        let part = total > 0 ? min(1, max(0, Double(done) / Double(total))) : 0
        let percent = String(Int(part * 100))
        let (now, end) = (text(done, unit), text(total, unit))
        // A number of bytes has its unit, and is not always shorter than a greater one.
        let width = unit == .bytes ? max(end.utf8.count, 4) : end.utf8.count
        let isKnown = total > 0 || unit == .items
        var tail = "] \(aligned(percent, 3))% \(aligned(now, width))\(isKnown ? "/\(end)" : "")"
        if let pace { tail += " " + padded(pace, paceWidth) }
        let room = columns - title.utf8.count - 2 - tail.utf8.count
        guard room > 0 else {
            if pace != nil {
                return render(title, done: done, total: total, in: unit, columns: columns)
            }
            return TerminalText.truncated("\(title) \(percent)%", columns: columns)
        }
        let filled = Int(part * Double(room))
        return title + " [" + String(repeating: "#", count: filled)
            + String(repeating: " ", count: room - filled) + tail
    }

    /// In columns, of `1.5m/s 1m05s left`: the bar keeps its length while they change.
    private static let paceWidth = 17

    private static func text(_ number: Int64, _ unit: Unit) -> String {
        switch unit {
        case .items: String(number)
        case .bytes: Quantity.text(byteCount: number)
        }
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.utf8.count))
    }

    private static func aligned(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.utf8.count)) + text
    }

    /// In nanoseconds: less is not felt as waiting.
    private static let patience: UInt64 = 300_000_000
    /// In nanoseconds: ten drawings a second look smooth.
    private static let interval: UInt64 = 100_000_000
}
