/// What an app's fetches have taken of the day's allowance.
struct RefreshBudget: Sendable, Equatable {
    private var day: Int64?
    private(set) var cellularBytes: Int64 = 0
    private(set) var wifiBytes: Int64 = 0
    /// In milliseconds.
    private(set) var radio: Int64 = 0

    /// A new day has a new allowance.
    mutating func roll(to day: Int64) {
        guard day != self.day else { return }
        self = RefreshBudget()
        self.day = day
    }

    mutating func spend(_ report: WakeReport, over link: DeviceLink) {
        if link == .cellular {
            cellularBytes += Self.clamped(report.bytes)
        } else {
            wifiBytes += Self.clamped(report.bytes)
        }
        radio += Self.clamped(report.radio)
    }

    /// What an app says of itself can be anything.
    private static func clamped(_ count: Int64) -> Int64 { min(max(0, count), 1 << 40) }

    func isSpent(over link: DeviceLink, _ policy: RefreshPolicy) -> Bool {
        let bytes =
            link == .cellular
            ? cellularBytes >= policy.cellularByteLimit : wifiBytes >= policy.wifiByteLimit
        return bytes || radio >= policy.radioLimit
    }
}
