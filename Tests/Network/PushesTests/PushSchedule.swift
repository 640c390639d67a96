import Base
import Pushes

/// Plays a schedule that is drawn from a seed against a store, and watches what it promises.
struct PushSchedule {
    private struct Delivery {
        let at: Int64
        let isFree: Bool
    }

    private struct Known {
        let push: PushNotification
        let device: String
        var fates: [PushStore.Fate] = []
        var last: PushStore.Fate? { fates.last }
        var isStored: Bool { last == .stored || last == .returned }
        var place: String { "\(device) \(push.topic)" }
    }

    private let seed: UInt64
    private var drawn: UInt64 = 0
    private var store: PushStore
    private var now: Int64 = 1_000_000
    private var known: [UInt64: Known] = [:]
    /// The pushes to each device and topic.
    private var numbers: [String: [UInt64]] = [:]
    /// By device and topic.
    private var delivered: [String: [Delivery]] = [:]
    private var connected: Set<String> = []
    /// Delivered and not acknowledged, by device.
    private var alertsInFlight: [String: Int] = [:]
    private var ordinals: [String: UInt64] = [:]
    private let limits: PushLimits

    private static let devices = ["phone", "pad"]
    private static let topics = ["news", "mail", "chat"]

    init(seed: UInt64) {
        self.seed = seed
        store = PushStore(seed: seed)
        var limits = PushLimits()
        limits.burst = 1 + Int64(seed % 3)
        limits.interval = 1000 * (1 + Int64(seed / 3 % 5))
        limits.deliversAtRefill = seed % 7 == 0
        limits.isLossy = seed % 11 == 0
        self.limits = limits
        for device in Self.devices {
            for topic in Self.topics { store.register(topic, on: device, limits) }
        }
    }

    private mutating func draw(_ bound: UInt64) -> UInt64 {
        drawn += 1
        return SplitMix.word(seed: seed, drawn) % bound
    }

    /// - Returns: the promise that was broken; `nil` if all were kept.
    mutating func play(steps: Int) -> String? {
        for _ in 0..<steps {
            if let broken = step() { return broken }
        }
        return settle()
    }

    private mutating func step() -> String? {
        now += Int64(draw(4) == 0 ? draw(4000) : draw(50))
        let device = Self.devices[Int(draw(2))]
        switch draw(12) {
        case 0:
            connected.insert(device)
            alertsInFlight[device] = 0
            return note(store.disconnect(device), device)
                ?? note(
                    store.connect(device, now: now), device)
        case 1:
            connected.remove(device)
            alertsInFlight[device] = 0
            return note(store.disconnect(device), device)
        case 2: return note(store.keepAlive(device, now: now), device)
        case 3: return note(store.refill(device, now: now), device)
        case 4, 5:
            while let event = store.next(device) {
                guard event.ordinal > ordinals[device] ?? 0 else { return "events go back" }
                ordinals[device] = event.ordinal
            }
            return note(
                store.acknowledge(device, through: ordinals[device] ?? 0, now: now), device)
        default: return push(to: device)
        }
    }

    private mutating func push(to device: String) -> String? {
        let number = UInt64(known.count) + 1
        let priority = [10, 10, 5, 5, 5, 5, 1][Int(draw(7))]
        let expiry = [Int64.max, .max, now + Int64(draw(3000)), now - 1][Int(draw(4))]
        let push = PushNotification(
            number: number, topic: Self.topics[Int(draw(3))],
            type: priority == 10 ? .alert : .background, priority: priority, expiry: expiry,
            isStorable: draw(8) > 0)
        known[number] = Known(push: push, device: device)
        numbers["\(device) \(push.topic)", default: []].append(number)
        let mustGo =
            priority == 10 && expiry > now && connected.contains(device)
            && alertsInFlight[device, default: 0] < 8
        let broken = note(store.accept(push, for: device, now: now), device)
        if mustGo, known[number]?.fates.first != .delivered { return "iv: an alert waits" }
        return broken
    }

    private mutating func note(_ changes: [PushStore.Change], _ device: String) -> String? {
        for change in changes {
            guard var entry = known[change.number] else { return "an unknown push" }
            if entry.last == .acknowledged || entry.last == .replaced || entry.last == .expired
                || entry.last == .dropped
            {
                return "v: \(change.fate) behind \(entry.fates)"
            }
            let before = entry
            entry.fates.append(change.fate)
            known[change.number] = entry
            if let broken = judge(change.fate, before) { return broken }
        }
        for topic in changes.isEmpty ? [] : Self.topics {
            let stored = all("\(device) \(topic)").filter(\.isStored)
            if stored.count > 1 { return "ii: \(stored.count) are stored" }
            let told = store.stored(device).filter { $0.topic == topic }.map(\.number)
            if told != stored.map(\.push.number) { return "v: \(told) are stored" }
        }
        return nil
    }

    private mutating func judge(_ fate: PushStore.Fate, _ entry: Known) -> String? {
        let push = entry.push
        switch fate {
        case .delivered, .piggybacked:
            if push.urgency == .immediate { alertsInFlight[entry.device, default: 0] += 1 }
            if now >= push.expiry { return "vi: delivered behind its expiry" }
            if fate == .piggybacked, !entry.isStored { return "iii: what flew was not stored" }
            let newer = all(entry.place).filter { $0.push.number > push.number }
            if newer.contains(where: \.isStored) {
                return "iii: an older one was delivered, and a newer one waits"
            }
            let isLimited = push.urgency != .immediate
            let isLate = newer.contains {
                $0.push.urgency != .immediate && $0.push.isStorable
                    && $0.fates.contains(.delivered)
            }
            if isLimited, isLate { return "iii: an older one came behind a newer one" }
            delivered[entry.place, default: []].append(
                Delivery(
                    at: now, isFree: fate == .piggybacked || !isLimited))
            if push.urgency == .passive, fate == .delivered { return "a passive one woke" }
            return rate(entry.place)
        case .acknowledged:
            if push.urgency == .immediate { alertsInFlight[entry.device, default: 0] -= 1 }
        case .dropped:
            if !limits.isLossy { return "v: one was lost" }
        case .expired:
            if now < push.expiry, push.isStorable { return "v: expired too soon" }
        case .stored:
            if !push.isStorable { return "one was stored that must not be" }
        case .replaced:
            if !all(entry.place).contains(where: { $0.push.number > push.number }) {
                return "iii: the newest was replaced"
            }
        case .returned, .unregistered: break
        }
        return nil
    }

    private func all(_ place: String) -> [Known] {
        (numbers[place] ?? []).compactMap { known[$0] }
    }

    /// No more than B + r·T go through in any window.
    private func rate(_ place: String) -> String? {
        let times = (delivered[place] ?? []).filter { !$0.isFree }.map(\.at)
        guard let last = times.last else { return nil }
        for (index, first) in times.enumerated() {
            let count = Int64(times.count - index)
            if count > limits.burst + (last - first) / limits.interval {
                return "i: \(count) in \(last - first) ms"
            }
        }
        return nil
    }

    /// At the end every device listens: nothing may be left behind.
    private mutating func settle() -> String? {
        for device in Self.devices {
            alertsInFlight[device] = 0
            var broken =
                note(store.disconnect(device), device)
                ?? note(store.connect(device, now: now), device)
            var last: UInt64 = 0
            while let event = store.next(device) { last = event.ordinal }
            broken = broken ?? note(store.acknowledge(device, through: last, now: now), device)
            if let broken { return broken }
            if !store.stored(device).isEmpty { return "v: something waits for ever" }
        }
        let ends: Set<PushStore.Fate> = [.acknowledged, .replaced, .expired, .dropped]
        for entry in known.values {
            let isOver =
                entry.last.map(ends.contains) ?? false
                // At most once: nobody can say whether it came.
                || entry.fates == [.delivered] && !entry.push.isStorable
            if !isOver { return "v: \(entry.push.number) ended as \(entry.fates)" }
        }
        return nil
    }
}
