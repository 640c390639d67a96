internal import Base
internal import Pushes

/// Plays a trace against a scheduler, on a clock of its own.
package struct RefreshSimulation {
    private let trace: RefreshTrace
    private let start: Int64
    private var world: SimulatedWorld
    private var scheduler: RefreshScheduler
    private var pushes: SimulatedPushes
    private var log: DecisionLog
    /// By rising time.
    private var completions: [Completion] = []

    private struct Completion {
        let at: Int64
        let token: WakeToken
        let fetch: SimulatedWorld.Fetch
        /// The second one of a wake, which does nothing.
        let isRepeated: Bool
    }

    private init(_ trace: RefreshTrace, _ policy: RefreshPolicy, seed: UInt64) {
        self.trace = trace
        start = trace.start.microseconds / 1000
        world = SimulatedWorld(trace, seed: seed)
        var policy = policy
        policy.zoneMinutes = trace.zoneMinutes
        scheduler = RefreshScheduler(trace.apps.map(\.app), policy, seed: seed, at: start)
        pushes = SimulatedPushes(trace.apps.map(\.app.name), seed: seed, at: start)
        log = DecisionLog(trace, seed: seed)
    }

    /// - Returns: what was decided, and what it took and brought.
    package static func play(
        _ trace: RefreshTrace, seed: UInt64, policy: RefreshPolicy = RefreshPolicy()
    ) -> (log: DecisionLog, measures: RefreshMeasures) {
        var simulation = RefreshSimulation(trace, policy, seed: seed)
        for event in trace.events {
            let time = simulation.start + event.at * 1000
            simulation.pass(until: time)
            simulation.take(event.kind, at: time)
        }
        return (simulation.log, simulation.world.measures)
    }

    /// Whatever is due before the next event happens at its own time.
    private mutating func pass(until time: Int64) {
        while true {
            let due = [completions.first?.at, pushes.nextTime, scheduler.nextTime]
            guard let next = due.compactMap(\.self).min(), next <= time else { return }
            if let first = completions.first, first.at == next {
                completions.removeFirst()
                complete(first)
            } else if pushes.nextTime == next {
                for arrival in pushes.advance(to: next) { take(arrival, at: next) }
            } else {
                carryOut(scheduler.advance(to: next), at: next)
            }
        }
    }

    private mutating func take(_ kind: RefreshTrace.Kind, at now: Int64) {
        world.take(kind, at: now)
        switch kind {
        case .device(let event):
            carryOut(scheduler.take(event, at: now), at: now)
            if case .link(let link) = event {
                for arrival in pushes.connect(link != .none, at: now) { take(arrival, at: now) }
            }
        case .pushed(let app, let push):
            for arrival in pushes.send(push, to: app, at: now) { take(arrival, at: now) }
        case .published, .outage, .behaviour, .end: break
        }
    }

    private mutating func take(_ arrival: SimulatedPushes.Arrival, at now: Int64) {
        world.notePush()
        carryOut(scheduler.push(arrival.kind, to: arrival.app, at: now), at: now)
    }

    private mutating func carryOut(_ decisions: [RefreshDecision], at now: Int64) {
        log.append(decisions, at: now)
        for decision in decisions {
            switch decision {
            case .wake(let wake): begin(wake, at: now)
            case .window: world.noteWindow()
            case .violation: world.noteViolation()
            default: break
            }
        }
    }

    private mutating func begin(_ wake: Wake, at now: Int64) {
        world.noteWake(isPush: wake.cause == .push)
        guard let index = world.index(of: wake.app) else { return }
        let fetch = world.begin(index, at: now)
        var times = [fetch.end]
        switch world.apps[index].fault {
        case .neverCompletes: times = []
        case .completesTwice: times.append(fetch.end + 500)
        case .completesLate: times = [wake.deadline + 2_000]
        case .overProcessor, .overBytes, nil: break
        }
        for (number, time) in times.enumerated() {
            let completion = Completion(
                at: time, token: wake.token, fetch: fetch, isRepeated: number > 0)
            let place = completions.firstIndex { $0.at > time } ?? completions.endIndex
            completions.insert(completion, at: place)
        }
    }

    private mutating func complete(_ completion: Completion) {
        // An app that was ended in the middle does not get to its end.
        let isOver = !scheduler.isOpen(completion.token)
        let fault = world.apps[completion.fetch.index].fault
        if isOver, !completion.isRepeated, fault != .completesLate { return }
        let report =
            isOver ? WakeReport(.noData) : world.finish(completion.fetch, at: completion.at)
        carryOut(
            scheduler.complete(completion.token, report, at: completion.at), at: completion.at)
    }
}
