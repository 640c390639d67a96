internal import Base
internal import Traffic

/// What is still to be written of what goes on, the soonest first; equal times as they were added.
struct ExportSchedule {
    private var heap: [Event] = []
    private var count: UInt64 = 0

    struct Event {
        let time: Timestamp
        fileprivate let order: UInt64
        let action: Action
    }

    enum Action {
        case head(ExchangeRecord)
        case end(ExchangeRecord)
        case close(Int64)
    }

    var first: Event? { heap.first }

    mutating func add(_ time: Timestamp, _ action: Action) {
        count += 1
        heap.append(Event(time: time, order: count, action: action))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard isSooner(child, parent) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func pop() -> Event? {
        guard let result = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return result }
        heap[0] = last
        var parent = 0
        while true {
            var soonest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if isSooner(child, soonest) { soonest = child }
            }
            guard soonest != parent else { return result }
            heap.swapAt(parent, soonest)
            parent = soonest
        }
    }

    private func isSooner(_ left: Int, _ right: Int) -> Bool {
        (heap[left].time, heap[left].order) < (heap[right].time, heap[right].order)
    }
}
