internal import Base
internal import Traffic

/// What is still to be written of what goes on, the soonest first; equal times as they were added.
struct ExportSchedule {
    private var events = Heap<Event>()
    private var count: UInt64 = 0

    struct Event: Comparable {
        let time: Timestamp
        fileprivate let order: UInt64
        let action: Action

        static func < (left: Event, right: Event) -> Bool {
            (left.time, left.order) < (right.time, right.order)
        }

        static func == (left: Event, right: Event) -> Bool { left.order == right.order }
    }

    enum Action {
        case head(ExchangeRecord)
        case end(ExchangeRecord)
        case close(Int64)
    }

    var first: Event? { events.first }

    mutating func add(_ time: Timestamp, _ action: Action) {
        count += 1
        events.add(Event(time: time, order: count, action: action))
    }

    mutating func pop() -> Event? { events.pop() }
}
