/// Decides when which recorded request is sent again: in the recorded order, and none before what
/// had ended before it in the recording has ended now.
package struct ReplaySchedule: Sendable {
    /// What a request waits for besides its values.
    package enum Pace: Sendable, Equatable {
        /// The requests that had ended when it began.
        case windows
        /// Those, and the recorded time in thousandths of itself.
        case timing(thousandths: Int64)
        /// Its turn, at so many thousandths of a request a second.
        case rate(thousandths: Int64)
    }

    /// When a request was under way in the recording, in microseconds of any clock.
    package struct Window: Sendable {
        package let start: Int64
        package let end: Int64
        /// Places of the requests whose answers it needs, all before its own.
        package let needs: [Int]

        package init(start: Int64, end: Int64, needs: [Int] = []) {
            self.start = start
            self.end = max(start, end)
            self.needs = needs
        }
    }

    package enum Step: Sendable, Equatable {
        /// Send the request at this place, and ask again.
        case send(Int)
        /// Ask again at this time, in milliseconds, or when a request has ended.
        case wait(until: UInt64)
        /// Ask again when a request has ended.
        case pause
        /// All were sent, or it was stopped, and all have ended.
        case done
    }

    private let windows: [Window]
    private let pace: Pace
    private let concurrencyLimit: Int
    /// Places by rising recorded end.
    private let byEnd: [Int]
    /// How many of `byEnd`, from its start, each request waits for.
    private let waitsFor: [Int]
    private var hasEnded: [Bool]
    /// How many of `byEnd`, from its start, have ended.
    private var endedPrefix = 0
    private var next = 0
    private var underWay = 0
    private var startedAt: UInt64?
    private var isStopped = false

    /// - Parameters:
    ///   - windows: by rising start.
    ///   - concurrencyLimit: how many may be under way at once.
    package init(_ windows: [Window], pace: Pace, concurrencyLimit: Int) {
        self.windows = windows
        self.pace = pace
        self.concurrencyLimit = concurrencyLimit
        byEnd = windows.indices.sorted {
            (windows[$0].end, $0) < (windows[$1].end, $1)
        }
        hasEnded = Array(repeating: false, count: windows.count)
        var passed = 0
        var counts: [Int] = []
        for (place, window) in windows.enumerated() {
            // One of no duration ends when it starts; it and its like do not wait for each other.
            while passed < byEnd.count, byEnd[passed] < place,
                windows[byEnd[passed]].end <= window.start
            {
                passed += 1
            }
            counts.append(passed)
        }
        waitsFor = counts
    }

    /// How many have been sent.
    package var sentCount: Int { next }

    /// - Parameter now: in milliseconds.
    package mutating func step(now: UInt64) -> Step {
        let start = startedAt ?? now
        startedAt = start
        guard !isStopped, next < windows.count else { return underWay > 0 ? .pause : .done }
        guard underWay < concurrencyLimit, isReady(next) else { return .pause }
        let due = start + delay(of: next)
        guard now >= due else { return .wait(until: due) }
        defer {
            next += 1
            underWay += 1
        }
        return .send(next)
    }

    private func isReady(_ place: Int) -> Bool {
        guard windows[place].needs.allSatisfy({ hasEnded[$0] }) else { return false }
        if case .rate = pace { return true }
        return endedPrefix >= waitsFor[place]
    }

    /// In milliseconds from the first request.
    private func delay(of place: Int) -> UInt64 {
        switch pace {
        case .windows: return 0
        case .timing(let thousandths):
            let recorded = (Double(windows[place].start) - Double(windows[0].start)) / 1000
            return UInt64(min(max(0, recorded * Double(thousandths) / 1000), Self.delayLimit))
        case .rate(let thousandths):
            return UInt64(
                min(Double(place) * 1_000_000 / Double(max(1, thousandths)), Self.delayLimit))
        }
    }

    /// Takes notice that a request has been answered, or has failed.
    package mutating func end(_ place: Int) {
        underWay -= 1
        hasEnded[place] = true
        while endedPrefix < byEnd.count, hasEnded[byEnd[endedPrefix]] { endedPrefix += 1 }
    }

    /// Sends nothing more.
    package mutating func stop() {
        isStopped = true
    }

    /// In milliseconds: longer than anybody waits, so that a recorded time cannot overflow the
    /// clock.
    private static let delayLimit: Double = 0x1p53
}
