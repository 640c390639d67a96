internal import Base

/// Which apps in use are fetched now: for their users at once, for pushes with a gap behind the last
/// fetch for one. For either reason one fetch of an app is under way and one more is wanted, however
/// often it is asked for: whoever sends pushes without end has it fetch no more.
///
/// It has no clock; times are in milliseconds since 1970 and never go back.
struct ForegroundMachine {
    enum Cause: Hashable {
        /// The user is in front of the app and waits.
        case user
        case push
    }

    struct Fetch: Hashable {
        let app: String
        let cause: Cause
    }

    private struct State {
        var isUnderWay = false
        var isWanted = false
        var notBefore = Int64.min

        /// When it begins; `nil` if it is not wanted, or waits for the one under way.
        var start: Int64? { isWanted && !isUnderWay ? notBefore : nil }
    }

    private let gap: Int64
    private var states: [Fetch: State] = [:]

    /// - Parameter gap: from the end of a fetch for a push to the start of the next one.
    init(gap: Int64) {
        self.gap = gap
    }

    mutating func want(_ fetch: Fetch) {
        states[fetch, default: State()].isWanted = true
        guard fetch.cause == .user else { return }
        // What a push announced is fetched with the rest.
        states[Fetch(app: fetch.app, cause: .push)]?.isWanted = false
    }

    /// Begins what may begin; each is to be ended.
    mutating func begin(at now: Int64) -> [Fetch] {
        let due = states.filter { $0.value.start.map { $0 <= now } ?? false }.keys
        for fetch in due {
            states[fetch]?.isWanted = false
            states[fetch]?.isUnderWay = true
        }
        return due.sorted {
            $0.app == $1.app ? $0.cause == .user && $1.cause == .push : $0.app < $1.app
        }
    }

    mutating func end(_ fetch: Fetch, at now: Int64) {
        states[fetch]?.isUnderWay = false
        if fetch.cause == .push { states[fetch]?.notBefore = now.addingSaturated(gap) }
    }

    /// When ``begin(at:)`` has something to do, if nothing else happens before.
    var nextTime: Int64? { states.values.compactMap(\.start).min() }
}
