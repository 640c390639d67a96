import Base
import Testing

@testable import Refresh

/// The six promises of a push service, as the device sees them: what it is sent and what arrives.
struct DevicePushTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func keepsThePromises(_ block: UInt64) throws {
        for seed in block * 25..<(block + 1) * 25 {
            var play = PushPlay(seed: seed)
            let broken = play.play(steps: 120)
            try #require(broken == nil, "seed \(seed): \(broken ?? "")")
            #expect(play.arrivedCount > 0)
        }
    }
}

/// One schedule, drawn from a seed.
private struct PushPlay {
    private struct Sent {
        let app: String
        let kind: TracePush.Kind
        let at: Int64
        let expiry: Int64
        let isStorable: Bool
        var arrivedAt: Int64?
    }

    private static let apps = ["news", "mail", "chat"]
    /// Two at once, and one each half an hour.
    private static let (burst, interval): (Int64, Int64) = (2, 1_800_000)
    private let seed: UInt64
    private var drawn: UInt64 = 0
    private var now: Int64 = 1_772_409_600_000
    private var pushes: SimulatedPushes
    private var sent: [UInt64: Sent] = [:]
    private var isConnected = true
    /// When silent ones went through by themselves.
    private var paid: [String: [Int64]] = [:]
    private(set) var arrivedCount = 0

    init(seed: UInt64) {
        self.seed = seed
        pushes = SimulatedPushes(Self.apps, seed: seed, at: now)
    }

    private mutating func draw(_ bound: UInt64) -> Int64 {
        drawn += 1
        return Int64(SplitMix.word(seed: seed, drawn) % bound)
    }

    mutating func play(steps: Int) -> String? {
        for _ in 0..<steps {
            let time = now + (draw(3) == 0 ? draw(4_000_000) : draw(60_000))
            if let broken = pass(until: time) ?? step() { return broken }
        }
        if let broken = note(pushes.connect(false, at: now)) { return broken }
        isConnected = true
        return note(pushes.connect(true, at: now)) ?? settle()
    }

    private mutating func pass(until time: Int64) -> String? {
        while let next = pushes.nextTime, next <= time {
            now = next
            if let broken = note(pushes.advance(to: next)) { return broken }
        }
        now = time
        return nil
    }

    private mutating func step() -> String? {
        if draw(8) == 0 {
            isConnected.toggle()
            return note(pushes.connect(isConnected, at: now))
        }
        let app = Self.apps[Int(draw(3))]
        let kind = draw(5) == 0 ? TracePush.Kind.alert : .silent
        let lifetime = [nil, nil, 0, 60_000, 3_600_000][Int(draw(5))] as Int64?
        let number = UInt64(sent.count) + 1
        sent[number] = Sent(
            app: app, kind: kind, at: now,
            expiry: lifetime.map { $0 == 0 ? .max : now + $0 } ?? .max,
            isStorable: lifetime != 0)
        let arrivals = pushes.send(TracePush(kind, lifetime: lifetime), to: app, at: now)
        if kind == .alert, isConnected, !arrivals.contains(where: { $0.number == number }) {
            return "iv: an alert waits"
        }
        return note(arrivals)
    }

    private mutating func note(_ arrivals: [SimulatedPushes.Arrival]) -> String? {
        if !isConnected, !arrivals.isEmpty { return "something comes while the device is away" }
        var waiting = Set<String>()
        for arrival in arrivals {
            arrivedCount += 1
            guard let push = sent[arrival.number], push.app == arrival.app else {
                return "nobody sent this"
            }
            if push.arrivedAt != nil { return "v: it comes twice" }
            if now >= push.expiry { return "vi: it comes behind its expiry" }
            if push.at < now, !push.isStorable { return "vi: it was stored" }
            if arrival.isPiggybacked, !waiting.insert(push.app).inserted {
                return "ii: two of one app were stored"
            }
            let newer = sent.filter { $0.key > arrival.number && $0.value.app == push.app }
            let isPassed = newer.values.contains {
                $0.arrivedAt != nil && $0.kind == .silent && push.kind == .silent
            }
            if isPassed { return "iii: an older one comes behind a newer one" }
            sent[arrival.number]?.arrivedAt = now
            if push.kind == .silent, !arrival.isPiggybacked {
                paid[push.app, default: []].append(now)
                if let broken = rate(push.app) { return broken }
            }
        }
        return nil
    }

    private func rate(_ app: String) -> String? {
        let times = paid[app] ?? []
        for (index, first) in times.enumerated() {
            let count = Int64(times.count - index)
            if count > Self.burst + (now - first) / Self.interval {
                return "i: \(count) in \(now - first) ms"
            }
        }
        return nil
    }

    /// Whatever did not arrive was replaced by something newer, or had no time left.
    private func settle() -> String? {
        for (number, push) in sent where push.arrivedAt == nil {
            let isReplaced = sent.contains {
                $0.key > number && $0.value.app == push.app
                    && ($0.value.isStorable || $0.value.arrivedAt != nil)
            }
            if !isReplaced, push.expiry > now, push.isStorable { return "v: \(number) is lost" }
        }
        return nil
    }
}
