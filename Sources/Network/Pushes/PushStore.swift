internal import Base

/// How often silent pushes wake one app of a device.
package struct PushLimits: Sendable, Equatable {
    /// How many go through after a long rest.
    package var burst: Int64 = 2
    /// Until one more goes through, in milliseconds.
    package var interval: Int64 = 1_800_000
    /// Whether one that waits goes out as soon as the limit lets it, and not only with others.
    package var deliversAtRefill = false
    /// Whether some of those that would have to wait are lost, and the others mixed up, as the
    /// service of today may do.
    package var isLossy = false

    package init() {}
}

/// What a push service holds back for devices, and when it lets go.
///
/// Silent pushes are limited for each device and app. One that comes too soon, or to a device that
/// is away, waits; of each app only the latest does. Whatever goes to the device takes all along
/// that wait. Times are in milliseconds since 1970 and given by the caller.
package struct PushStore: Sendable {
    package enum Fate: String, Sendable {
        case delivered
        /// Delivered with something else, at no cost.
        case piggybacked
        case stored
        /// A later one of the app took its place.
        case replaced
        case expired
        /// Lost on purpose.
        case dropped
        case acknowledged
        /// The device left without acknowledging it: it waits again.
        case returned
        /// Its app was removed from the device.
        case unregistered
    }

    package struct Change: Sendable, Equatable {
        /// Of the notification.
        package let number: UInt64
        package let fate: Fate

        init(_ notification: PushNotification, _ fate: Fate) {
            number = notification.number
            self.fate = fate
        }
    }

    /// What a device is told.
    package struct Event: Sendable, Equatable {
        /// Of the device's events, counted from 1.
        package let ordinal: UInt64
        package let notification: PushNotification
        package let isPiggybacked: Bool
    }

    private var devices: [String: Device] = [:]
    private let seed: UInt64

    package init(seed: UInt64) {
        self.seed = seed
    }

    // MARK: Devices

    package mutating func register(_ topic: String, on device: String, _ limits: PushLimits) {
        var state = devices[device] ?? Device(seed: seed)
        state.apps[topic] = App(limits)
        devices[device] = state
    }

    package mutating func unregister(_ topic: String, on device: String) -> [Change] {
        guard var state = devices[device] else { return [] }
        let changes = state.remove(topic)
        devices[device] = state.apps.isEmpty && !state.isConnected ? nil : state
        return changes
    }

    /// The device listens, and gets what waits for it.
    package mutating func connect(_ device: String, now: Int64) -> [Change] {
        change(device) { state in
            state.isConnected = true
            state.sentCount = 0
            return state.flush(now)
        }
    }

    /// The device is away: what it has not acknowledged waits again.
    package mutating func disconnect(_ device: String) -> [Change] {
        let changes = change(device) { $0.takeBack() }
        if devices[device]?.apps.isEmpty == true { devices[device] = nil }
        return changes
    }

    /// Something other than a push goes to the device.
    package mutating func keepAlive(_ device: String, now: Int64) -> [Change] {
        change(device) { $0.isConnected ? $0.flush(now) : [] }
    }

    // MARK: Notifications

    package mutating func accept(
        _ notification: PushNotification, for device: String, now: Int64
    ) -> [Change] {
        guard devices[device]?.apps[notification.topic] != nil else {
            return [Change(notification, .unregistered)]
        }
        return change(device) { $0.accept(notification, now) }
    }

    /// Delivers what the limits let go by now, of apps that want that.
    package mutating func refill(_ device: String, now: Int64) -> [Change] {
        change(device) { $0.refill(now) }
    }

    /// When `refill` has something to do; `nil` for never.
    package func nextRefill(_ device: String) -> Int64? {
        guard let state = devices[device], state.isConnected else { return nil }
        return state.apps.values.compactMap(\.nextRefill).min()
    }

    /// The next event for a device that listens.
    package mutating func next(_ device: String) -> Event? {
        guard let state = devices[device], state.isConnected, state.sentCount < state.outbox.count
        else { return nil }
        devices[device]?.sentCount += 1
        return state.outbox[state.sentCount]
    }

    /// The device has got all events up to this one.
    package mutating func acknowledge(
        _ device: String, through ordinal: UInt64, now: Int64
    ) -> [Change] {
        change(device) { $0.acknowledge(through: ordinal, now) }
    }

    /// What waits for a device, by topic.
    package func stored(_ device: String) -> [PushNotification] {
        (devices[device]?.apps.values.compactMap(\.slot) ?? []).sorted { $0.topic < $1.topic }
    }

    package func isConnected(_ device: String) -> Bool { devices[device]?.isConnected ?? false }

    private mutating func change(
        _ device: String, _ body: (inout Device) -> [Change]
    ) -> [Change] {
        guard var state = devices[device] else { return [] }
        defer { devices[device] = state }
        return body(&state)
    }
}

extension PushStore {
    /// One app of a device: how many silent pushes may wake it, and the one that waits.
    private struct App {
        let limits: PushLimits
        /// Saved up, in milliseconds; one push costs an interval.
        var level: Int64
        var refilledAt: Int64?
        var slot: PushNotification?

        init(_ limits: PushLimits) {
            self.limits = limits
            level = limits.burst * limits.interval
        }

        mutating func refill(_ now: Int64) {
            let rested = max(0, now - (refilledAt ?? now))
            level = min(limits.burst * limits.interval, level + rested)
            refilledAt = now
        }

        mutating func pay() -> Bool {
            guard level >= limits.interval else { return false }
            level -= limits.interval
            return true
        }

        var nextRefill: Int64? {
            guard limits.deliversAtRefill, slot != nil, slot?.urgency != .passive else {
                return nil
            }
            return (refilledAt ?? 0) + max(0, limits.interval - level)
        }
    }

    private struct Device {
        let seed: UInt64
        var isConnected = false
        var apps: [String: App] = [:]
        /// What was let go and is not acknowledged, in order.
        var outbox: [Event] = []
        /// How many of these went out on the connection there is.
        var sentCount = 0
        var ordinal: UInt64 = 0

        mutating func accept(_ notification: PushNotification, _ now: Int64) -> [Change] {
            guard now < notification.expiry, var app = apps[notification.topic] else {
                return [Change(notification, .expired)]
            }
            app.refill(now)
            defer { apps[notification.topic]?.refilledAt = now }
            let mayGo =
                switch notification.urgency {
                case .immediate: isConnected && hasRoom(for: notification)
                case .limited: isConnected && hasRoom(for: notification) && app.pay()
                case .passive: false
                }
            guard mayGo else {
                let changes = Self.store(notification, in: &app, seed)
                apps[notification.topic] = app
                return changes
            }
            var changes: [Change] = []
            if notification.urgency != .immediate, let old = app.slot.take() {
                changes.append(Change(old, .replaced))
            }
            apps[notification.topic] = app
            changes.append(send(notification, .delivered))
            return changes + flush(now)
        }

        private static func store(
            _ notification: PushNotification, in app: inout App, _ seed: UInt64
        ) -> [Change] {
            guard notification.isStorable else { return [Change(notification, .expired)] }
            if app.limits.isLossy, notification.urgency != .immediate,
                SplitMix.word(seed: seed, notification.number) % 4 == 0
            {
                return [Change(notification, .dropped)]
            }
            let old = app.slot
            app.slot = notification
            return (old.map { [Change($0, .replaced)] } ?? []) + [Change(notification, .stored)]
        }

        /// Alerts and others have room of their own, so that none waits for the others.
        private func hasRoom(for notification: PushNotification) -> Bool {
            let isAlert = notification.urgency == .immediate
            return outbox.count { ($0.notification.urgency == .immediate) == isAlert }
                < PushStore.inFlightLimit
        }

        private mutating func send(_ notification: PushNotification, _ fate: Fate) -> Change {
            ordinal += 1
            outbox.append(
                Event(
                    ordinal: ordinal, notification: notification,
                    isPiggybacked: fate == .piggybacked))
            return Change(notification, fate)
        }

        /// Lets all go that waits, at no cost, as something goes to the device.
        mutating func flush(_ now: Int64) -> [Change] {
            let waiting = apps.values.compactMap { app in
                app.slot.map { slot in
                    (app.limits.isLossy ? SplitMix.word(seed: seed, ~slot.number) : 0, slot)
                }
            }.sorted { ($0.0, $0.1.number) < ($1.0, $1.1.number) }
            return waiting.compactMap { _, notification in
                guard now < notification.expiry else {
                    apps[notification.topic]?.slot = nil
                    return Change(notification, .expired)
                }
                guard hasRoom(for: notification) else { return nil }
                apps[notification.topic]?.slot = nil
                return send(notification, .piggybacked)
            }
        }

        mutating func refill(_ now: Int64) -> [Change] {
            var changes: [Change] = []
            for topic in apps.keys.sorted() {
                guard var app = apps[topic], let slot = app.slot, isConnected,
                    app.nextRefill != nil
                else { continue }
                app.refill(now)
                let goes = now < slot.expiry && hasRoom(for: slot) && app.pay()
                if goes || now >= slot.expiry { app.slot = nil }
                apps[topic] = app
                if now >= slot.expiry { changes.append(Change(slot, .expired)) }
                if goes { changes += [send(slot, .delivered)] + flush(now) }
            }
            return changes
        }

        mutating func acknowledge(through ordinal: UInt64, _ now: Int64) -> [Change] {
            let known = outbox.prefix(sentCount).prefix { $0.ordinal <= ordinal }
            let wasFull = outbox.count >= PushStore.inFlightLimit
            outbox.removeFirst(known.count)
            sentCount -= known.count
            let changes = known.map { Change($0.notification, .acknowledged) }
            // What found no room is not to wait for something else to be said.
            return wasFull && isConnected && !known.isEmpty ? changes + flush(now) : changes
        }

        mutating func takeBack() -> [Change] {
            isConnected = false
            sentCount = 0
            let left = outbox
            outbox = []
            return left.flatMap { event -> [Change] in
                let notification = event.notification
                guard notification.isStorable, let app = apps[notification.topic] else { return [] }
                if let slot = app.slot, slot.number > notification.number {
                    return [Change(notification, .replaced)]
                }
                apps[notification.topic]?.slot = notification
                return (app.slot.map { [Change($0, .replaced)] } ?? [])
                    + [Change(notification, .returned)]
            }
        }

        mutating func remove(_ topic: String) -> [Change] {
            let slot = apps.removeValue(forKey: topic)?.slot
            let gone = outbox.filter { $0.notification.topic == topic }
            sentCount -= outbox.prefix(sentCount).count { $0.notification.topic == topic }
            outbox.removeAll { $0.notification.topic == topic }
            return (gone.map(\.notification) + (slot.map { [$0] } ?? [])).map {
                Change($0, .unregistered)
            }
        }
    }

    /// How many alerts, and how many others, a device may leave unacknowledged.
    private static let inFlightLimit = 8
}
