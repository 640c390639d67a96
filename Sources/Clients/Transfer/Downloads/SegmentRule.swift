/// Decides when a download asks for one more part at a time: while each one more makes it faster, and
/// only where the line and not the machine is what it waits for.
struct SegmentRule {
    private let limits: TransferLimits
    /// Where the measured time began, in milliseconds, and what had come by then, in bytes.
    private var start: (time: Int64, received: Int64)?
    /// In bytes a second, with one part less.
    private var before: Int64 = 0
    private var isOver = false

    init(_ limits: TransferLimits) {
        self.limits = limits
    }

    /// - Parameters:
    ///   - count: the parts that come now.
    ///   - received: what has come of all of them, in bytes.
    ///   - now: in milliseconds.
    mutating func mayOpen(count: Int, received: Int64, now: Int64) -> Bool {
        guard !isOver, count < limits.segmentLimit else { return false }
        guard let start else {
            self.start = (now, received)
            return false
        }
        guard now - start.time >= limits.segmentTime else { return false }
        self.start = (now, received)
        let rate = (received - start.received) * 1000 / max(1, now - start.time)
        guard rate < limits.segmentRate else { return false }
        if count > 1, rate < before + before / 100 * limits.segmentGain {
            isOver = true
            return false
        }
        before = rate
        return true
    }
}
