internal import Base

/// The two ways of refreshing that need no scheduler, on the same trace and at the same costs.
enum RefreshBaseline {
    /// - Parameter interval: of a timer that fetches every app, in milliseconds; `nil` to fetch
    ///   only what the user opens.
    static func play(_ trace: RefreshTrace, seed: UInt64, timer interval: Int64?) -> RefreshMeasures
    {
        let start = trace.start.microseconds / 1000
        var world = SimulatedWorld(trace, seed: seed)
        var running: [SimulatedWorld.Fetch] = []
        var next = interval.map { start + $0 } ?? .max
        for event in trace.events {
            let time = start + event.at * 1000
            while true {
                let end = running.map(\.end).min() ?? .max
                guard min(end, next) <= time else { break }
                if end <= next {
                    for fetch in running where fetch.end == end {
                        _ = world.finish(fetch)
                    }
                    running.removeAll { $0.end == end }
                } else {
                    for index in world.apps.indices {
                        world.noteWake(isPush: false)
                        running.append(world.begin(index, at: next))
                    }
                    world.noteWindow()
                    next += interval ?? 0
                }
            }
            world.take(event.kind, at: time)
        }
        return world.measures
    }
}
