package import Base
internal import Pushes

/// Plays a trace against a scheduler, on a clock of its own.
package struct RefreshSimulation {
    private let trace: RefreshTrace
    private let start: Int64
    private var world: SimulatedWorld
    private var scheduler: RefreshScheduler
    private var pushes: SimulatedPushes
    /// What was decided and is not handed on.
    private var decided: [DecisionLog.Entry] = []
    private var decisionCount = 0
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
    }

    /// Plays a trace to its end.
    ///
    /// - Parameters:
    ///   - decisionLimit: a trace of a few lines may have any number of decisions.
    ///   - tell: hears of each decision, in order; its error ends the simulation.
    /// - Returns: what it took and brought.
    ///
    /// Errors: `trace-invalid` for more decisions, those of who hears.
    package static func play(
        _ trace: RefreshTrace, seed: UInt64, policy: RefreshPolicy = RefreshPolicy(),
        decisionLimit: Int = Self.decisionLimit, tell: (DecisionLog.Entry) throws(Failure) -> Void
    ) throws(Failure) -> RefreshMeasures {
        var simulation = RefreshSimulation(trace, policy, seed: seed)
        for event in trace.events {
            let time = simulation.start + event.at * 1000
            while simulation.step(until: time) {
                try simulation.handOn(atMost: decisionLimit, tell)
            }
            simulation.take(event.kind, at: time)
            try simulation.handOn(atMost: decisionLimit, tell)
        }
        return simulation.world.measures
    }

    private mutating func handOn(
        atMost limit: Int, _ tell: (DecisionLog.Entry) throws(Failure) -> Void
    ) throws(Failure) {
        for entry in decided {
            decisionCount += 1
            guard decisionCount <= limit else {
                let time = Timestamp(microseconds: entry.at * 1000).rfc3339
                throw Failure(
                    "trace-invalid", party: .tool,
                    "the trace makes more than \(limit) decisions, the last at \(time)",
                    hint: "play fewer apps, or less time")
            }
            try tell(entry)
        }
        decided.removeAll(keepingCapacity: true)
    }

    /// Whatever is due before the next event happens at its own time.
    ///
    /// - Returns: whether there was anything.
    private mutating func step(until time: Int64) -> Bool {
        let due = [completions.first?.at, pushes.nextTime, scheduler.nextTime]
        guard let next = due.compactMap(\.self).min(), next <= time else { return false }
        if let first = completions.first, first.at == next {
            completions.removeFirst()
            complete(first)
        } else if pushes.nextTime == next {
            for arrival in pushes.advance(to: next) { take(arrival, at: next) }
        } else {
            carryOut(scheduler.advance(to: next), at: next)
        }
        return true
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
        for decision in decisions {
            decided.append(DecisionLog.Entry(at: now, decision: decision))
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
        let report = isOver ? WakeReport(.noData) : world.finish(completion.fetch)
        carryOut(
            scheduler.complete(completion.token, report, at: completion.at), at: completion.at)
    }

    /// The traces that ship have some thousand each week: ten years of the busiest of them, and a log of
    /// some hundred MB.
    package static let decisionLimit = 5_000_000
}
