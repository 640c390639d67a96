internal import Base
internal import HTTPServer
internal import Pushes
internal import Synchronization
internal import TLS

extension PushService {
    /// Puts an app on a device; again, it keeps its token unless that is to be another one.
    ///
    /// - Returns: its token; `nil` if there are too many.
    func register(
        device: String, topic: String, environment: ProviderKey.Environment?,
        limits: PushLimits, rotates: Bool, now: Int64
    ) -> String? {
        let name = "\(device) \(topic)"
        var token: String?
        change(device) { state in
            let install = state.installs[name] ?? 0
            let last = Self.token(name, install, seed: seed)
            if state.registrations[last]?.end == nil, !rotates, state.registrations[last] != nil {
                token = last
                return []
            }
            guard state.tokens.count < Self.registrationLimit else { return [] }
            let made = Self.token(name, install + 1, seed: seed)
            token = made
            let changes = Self.end(last, .unregistered, at: now, in: &state)
            state.installs[name] = install + 1
            state.tokens.append(made)
            state.registrations[made] = Registration(
                token: made, device: device, topic: topic, environment: environment)
            state.store.register(topic, on: device, limits)
            return changes
        }
        return token
    }

    /// Removes an app from its device: pushes to it are refused from now on.
    func unregister(_ token: String, _ reason: PushReason, at time: Int64) -> Bool {
        guard let device = registration(token)?.device else { return false }
        return state.withLock { $0.registrations[token]?.end == nil }
            && change(device) { Self.end(token, reason, at: time, in: &$0) } >= 0
    }

    private static func end(
        _ token: String, _ reason: PushReason, at time: Int64, in state: inout State
    ) -> [PushStore.Change] {
        guard let found = state.registrations[token], found.end == nil else { return [] }
        state.registrations[token]?.end = (reason, time)
        return state.store.unregister(found.topic, on: found.device)
    }

    func registration(_ token: String) -> Registration? {
        state.withLock { $0.registrations[token] }
    }

    private static func token(_ name: String, _ install: UInt64, seed: UInt64) -> String {
        Digests.sha256([UInt8]("device token \(seed) \(install) \(name)".utf8)).hex
    }

    // MARK: Devices that listen

    /// A device begins to listen; whoever listened for it before is let go.
    ///
    /// - Returns: the listener's number.
    func listen(_ device: String, now: Int64, wake: @escaping @Sendable () -> Void) -> UInt64 {
        var number: UInt64 = 0
        var former: Listener?
        change(device) { state in
            state.listenerNumber += 1
            number = state.listenerNumber
            former = state.listeners[device]
            state.listeners[device] = Listener(number: number, wake: wake)
            let returned = state.store.disconnect(device)
            for change in returned { state.sent[change.number]?.fate = change.fate }
            return state.store.connect(device, now: now)
        }
        former?.wake()
        return number
    }

    func leave(_ device: String, listener: UInt64) {
        change(device) { state in
            guard state.listeners[device]?.number == listener else { return [] }
            state.listeners[device] = nil
            return state.store.disconnect(device)
        }
    }

    enum Next {
        case event(PushStore.Event)
        /// Nothing for so many milliseconds; `nil` for any time.
        case wait(UInt64?)
        /// Another one listens for the device.
        case over
    }

    func next(_ device: String, listener: UInt64, now: Int64) -> Next {
        state.withLock { state in
            guard state.listeners[device]?.number == listener else { return .over }
            for change in state.store.refill(device, now: now) {
                state.sent[change.number]?.fate = change.fate
            }
            if let event = state.store.next(device) { return .event(event) }
            return .wait(state.store.nextRefill(device).map { UInt64(max(1, $0 - now)) })
        }
    }

    func acknowledge(_ device: String, through ordinal: UInt64, now: Int64) -> Int {
        change(device) { $0.store.acknowledge(device, through: ordinal, now: now) }
    }

    func keepAlive(_ device: String, now: Int64) -> Int {
        change(device) { $0.store.keepAlive(device, now: now) }
    }

    private static let registrationLimit = 4096
}
