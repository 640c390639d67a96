import Base
import Pushes
import Testing

struct PushStoreTests {
    private static func push(
        _ number: UInt64, _ topic: String = "news", priority: Int = 5, expiry: Int64 = .max,
        isStorable: Bool = true, type: PushType? = .background, payload: String = "{}"
    ) -> PushNotification {
        PushNotification(
            number: number, topic: topic, type: type, priority: priority, expiry: expiry,
            isStorable: isStorable, payload: [UInt8](payload.utf8))
    }

    private static func fates(_ changes: [PushStore.Change]) -> [String] {
        changes.map { "\($0.number) \($0.fate.rawValue)" }
    }

    /// A device that listens, with two apps.
    private static func store(_ limits: PushLimits = PushLimits()) -> PushStore {
        var store = PushStore(seed: 1)
        store.register("news", on: "phone", limits)
        store.register("mail", on: "phone", limits)
        #expect(store.connect("phone", now: 0).isEmpty)
        return store
    }

    // MARK: Rules one by one

    /// Two silent pushes go through; of the others the last waits, until an alert to another app
    /// takes it along.
    @Test func limitsSilentPushes() {
        var store = Self.store()
        var changes: [PushStore.Change] = []
        for number in 1...5 {
            changes += store.accept(Self.push(UInt64(number)), for: "phone", now: 10)
        }
        #expect(
            Self.fates(changes) == [
                "1 delivered", "2 delivered", "3 stored", "3 replaced", "4 stored", "4 replaced",
                "5 stored",
            ])
        let alert = Self.push(6, "mail", priority: 10, type: .alert)
        #expect(
            Self.fates(store.accept(alert, for: "phone", now: 20))
                == ["6 delivered", "5 piggybacked"])
        #expect(store.stored("phone").isEmpty)
    }

    @Test(
        arguments: [
            (1_799_999, ["3 stored"]), (1_800_000, ["3 delivered"]),
        ] as [(Int64, [String])])
    func refillsByTime(_ now: Int64, _ fates: [String]) {
        var store = Self.store()
        for number in 1...2 as ClosedRange<UInt64> {
            _ = store.accept(Self.push(number), for: "phone", now: 0)
        }
        #expect(Self.fates(store.accept(Self.push(3), for: "phone", now: now)) == fates)
    }

    /// What comes along with something else costs nothing.
    @Test func takesAlongForNothing() {
        var store = Self.store()
        let passive = Self.push(1, priority: 1, type: .alert)
        #expect(Self.fates(store.accept(passive, for: "phone", now: 0)) == ["1 stored"])
        #expect(Self.fates(store.keepAlive("phone", now: 0)) == ["1 piggybacked"])
        for number in 2...3 as ClosedRange<UInt64> {
            #expect(
                Self.fates(store.accept(Self.push(number), for: "phone", now: 0))
                    == ["\(number) delivered"])
        }
    }

    /// By itself what waits goes out only where that was asked for.
    @Test(arguments: [false, true])
    func deliversAtRefill(_ isAsked: Bool) {
        var limits = PushLimits()
        limits.deliversAtRefill = isAsked
        var store = Self.store(limits)
        for number in 1...3 as ClosedRange<UInt64> {
            _ = store.accept(Self.push(number), for: "phone", now: 0)
        }
        #expect(store.nextRefill("phone") == (isAsked ? 1_800_000 : nil))
        #expect(store.refill("phone", now: 1_799_999).isEmpty)
        #expect(
            Self.fates(store.refill("phone", now: 1_800_000)) == (isAsked ? ["3 delivered"] : []))
    }

    @Test(
        arguments: [
            ("alert at once", push(1, priority: 10, type: .alert), "delivered"),
            ("alert with priority 1", push(1, priority: 1, type: .alert), "stored"),
            ("silent by its payload", silent(#"{"aps":{"content-available":1}}"#), "delivered"),
            ("expired", push(1, expiry: 100), "expired"),
            ("expires later", push(1, expiry: 101), "delivered"),
            ("unknown app", push(1, "other"), "unregistered"),
        ] as [(String, PushNotification, String)])
    func decidesAtOnce(_ name: String, _ push: PushNotification, _ fate: String) {
        var store = Self.store()
        #expect(Self.fates(store.accept(push, for: "phone", now: 100)) == ["1 \(fate)"], "\(name)")
    }

    private static func silent(_ payload: String) -> PushNotification {
        push(1, priority: 10, type: nil, payload: payload)
    }

    @Test(
        arguments: [
            (#"{"aps":{"content-available":1}}"#, true),
            (#"{"aps":{"content-available":1},"k":"v"}"#, true),
            (#"{"aps":{"content-available":1,"alert":"x"}}"#, false),
            (#"{"aps":{"content-available":1,"sound":"x"}}"#, false),
            (#"{"aps":{"content-available":1,"badge":0}}"#, false),
            (#"{"aps":{"content-available":0}}"#, false),
            (#"{"aps":{"content-available":"1"}}"#, false),
            (#"{"aps":{"alert":"x"}}"#, false), ("{}", false), ("no JSON", false),
        ])
    func knowsWhatIsSilent(_ payload: String, _ isSilent: Bool) {
        #expect(Self.silent(payload).isSilent == isSilent)
        #expect(Self.push(1, payload: payload).isSilent)
    }

    /// What a device has not acknowledged waits again when it leaves; the newest of an app.
    @Test func returnsWhatWasNotAcknowledged() {
        var store = Self.store()
        for number in 1...3 as ClosedRange<UInt64> {
            _ = store.accept(
                Self.push(number, priority: 10, type: .alert), for: "phone", now: 0)
        }
        #expect(store.next("phone")?.notification.number == 1)
        #expect(store.next("phone")?.notification.number == 2)
        #expect(store.next("phone")?.ordinal == 3)
        #expect(store.next("phone") == nil)
        #expect(Self.fates(store.acknowledge("phone", through: 1, now: 0)) == ["1 acknowledged"])
        #expect(
            Self.fates(store.disconnect("phone"))
                == ["2 returned", "2 replaced", "3 returned"])
        #expect(store.next("phone") == nil)
        #expect(Self.fates(store.connect("phone", now: 1)) == ["3 piggybacked"])
        #expect(store.next("phone")?.ordinal == 4)
        #expect(Self.fates(store.acknowledge("phone", through: 9, now: 1)) == ["3 acknowledged"])
        #expect(store.disconnect("phone").isEmpty)
    }

    /// A device that acknowledges nothing holds no more than so many, and gets the others behind
    /// them; alerts do not wait for silent ones.
    @Test func boundsWhatIsNotAcknowledged() {
        var limits = PushLimits()
        limits.burst = 100
        var store = Self.store(limits)
        let silent = (1...10 as ClosedRange<UInt64>).flatMap {
            Self.fates(store.accept(Self.push($0), for: "phone", now: 0))
        }
        #expect(silent.suffix(3) == ["9 stored", "9 replaced", "10 stored"])
        for number in 11...18 as ClosedRange<UInt64> {
            let alert = Self.push(number, "mail", priority: 10, type: .alert)
            #expect(
                Self.fates(store.accept(alert, for: "phone", now: 0)) == ["\(number) delivered"])
        }
        let late = Self.push(19, "mail", priority: 10, type: .alert)
        #expect(Self.fates(store.accept(late, for: "phone", now: 0)) == ["19 stored"])
        // Nothing that did not go out can be acknowledged.
        #expect(store.acknowledge("phone", through: 99, now: 0).isEmpty)
        while store.next("phone") != nil {}
        let changes = Self.fates(store.acknowledge("phone", through: 9, now: 0))
        #expect(changes.suffix(2) == ["10 piggybacked", "19 piggybacked"])
    }

    @Test func losesSomeOnPurpose() {
        var limits = PushLimits()
        limits.isLossy = true
        limits.burst = 0
        func fates(_ seed: UInt64) -> [String] {
            var store = PushStore(seed: seed)
            store.register("news", on: "phone", limits)
            return (1...400 as ClosedRange<UInt64>).flatMap {
                Self.fates(store.accept(Self.push($0), for: "phone", now: 0))
            }
        }
        #expect((50...150).contains(fates(1).count { $0.hasSuffix("dropped") }))
        #expect(fates(1) == fates(1))
        #expect(fates(1) != fates(2))
    }

    // MARK: What always holds

    /// Thousands of schedules, each of which must keep all six rules.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func keepsItsPromises(_ block: UInt64) throws {
        for seed in block * 50..<(block + 1) * 50 {
            var schedule = PushSchedule(seed: seed)
            let broken = schedule.play(steps: 60)
            try #require(broken == nil, "seed \(seed): \(broken ?? "")")
        }
    }
}
