internal import Base
internal import Pushes

/// The push service as one device meets it: what arrives when.
struct SimulatedPushes {
    private var store: PushStore
    private var sent: [UInt64: TracePush.Kind] = [:]
    private var number: UInt64 = 0
    private var isConnected = true
    private var keepsAliveAt: Int64
    private static let device = "device"
    /// In milliseconds: how often a device says that it is still there.
    private static let keepAliveInterval: Int64 = 1_680_000

    struct Arrival {
        let app: String
        let kind: TracePush.Kind
        /// In the order in which they were sent, from 1.
        let number: UInt64
        /// Whether it came with something else.
        let isPiggybacked: Bool
    }

    init(_ apps: [String], seed: UInt64, at now: Int64) {
        store = PushStore(seed: seed)
        for app in apps { store.register(app, on: Self.device, PushLimits()) }
        _ = store.connect(Self.device, now: now)
        keepsAliveAt = now + Self.keepAliveInterval
    }

    /// When ``advance(to:)`` is to be called; `nil` while the device is away.
    var nextTime: Int64? { isConnected ? keepsAliveAt : nil }

    mutating func advance(to now: Int64) -> [Arrival] {
        keepsAliveAt = now + Self.keepAliveInterval
        _ = store.keepAlive(Self.device, now: now)
        return take(at: now)
    }

    mutating func connect(_ isConnected: Bool, at now: Int64) -> [Arrival] {
        guard isConnected != self.isConnected else { return [] }
        self.isConnected = isConnected
        keepsAliveAt = now + Self.keepAliveInterval
        _ =
            isConnected
            ? store.connect(Self.device, now: now) : store.disconnect(Self.device)
        return take(at: now)
    }

    mutating func send(_ push: TracePush, to app: String, at now: Int64) -> [Arrival] {
        number += 1
        sent[number] = push.kind
        let isSilent = push.kind == .silent
        let notification = PushNotification(
            number: number, topic: app, type: isSilent ? .background : .alert,
            priority: isSilent ? 5 : 10,
            expiry: push.lifetime.map { $0 == 0 ? .max : now + $0 } ?? .max,
            isStorable: push.lifetime != 0)
        _ = store.accept(notification, for: Self.device, now: now)
        return take(at: now)
    }

    private mutating func take(at now: Int64) -> [Arrival] {
        var arrivals: [Arrival] = []
        while let event = store.next(Self.device) {
            let push = event.notification
            if let kind = sent.removeValue(forKey: push.number) {
                arrivals.append(
                    Arrival(
                        app: push.topic, kind: kind, number: push.number,
                        isPiggybacked: event.isPiggybacked))
            }
            _ = store.acknowledge(Self.device, through: event.ordinal, now: now)
        }
        return arrivals
    }
}
