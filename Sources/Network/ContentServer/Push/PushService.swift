internal import Base
internal import HTTPModel
internal import HTTPServer
internal import Pushes
internal import Synchronization
internal import TLS

/// The push service: who may send, which devices there are, what was sent and what became of it.
final class PushService: Sendable {
    /// An app on a device, as its push token names it.
    struct Registration {
        let token: String
        let device: String
        let topic: String
        /// `nil` for both.
        let environment: ProviderKey.Environment?
        /// Why pushes to it are refused since when, in milliseconds since 1970; `nil` while they
        /// are not.
        var end: (reason: PushReason, at: Int64)?
    }

    /// A push that was accepted, and what became of it.
    struct Sent {
        let notification: PushNotification
        let device: String
        let acceptedAt: Int64
        var fate: PushStore.Fate
    }

    /// What some of the next pushes are answered, whatever they are.
    struct Answer {
        let reason: PushReason
        let endsConnection: Bool
        var count: UInt64
    }

    struct State {
        var store: PushStore
        var registrations: [String: Registration] = [:]
        /// In the order in which they were made.
        var tokens: [String] = []
        var keys: [String: ProviderKey] = [:]
        var connections: [UInt64: ProviderConnection] = [:]
        var sent: [UInt64: Sent] = [:]
        var number: UInt64 = 0
        /// Of those that are remembered, the oldest first.
        var order: [UInt64] = []
        var answers: [Answer] = []
        /// How often each app was put on each device.
        var installs: [String: UInt64] = [:]
        var listeners: [String: Listener] = [:]
        var listenerNumber: UInt64 = 0
    }

    /// The connection that a device listens on.
    struct Listener {
        let number: UInt64
        let wake: @Sendable () -> Void
    }

    let seed: UInt64
    /// The one that the server has made, for whoever brings none.
    let ownKey = PrivateKey.p256()
    let state: Mutex<State>

    init(_ configuration: ContentServerConfiguration) {
        seed = configuration.seed
        state = Mutex(Self.empty(seed, ownKey))
    }

    /// Forgets everything, for the next test; devices that listen are let go.
    func reset() {
        let wakers = state.withLock { state in
            let wakers = state.listeners.values.map(\.wake)
            let number = state.listenerNumber
            state = Self.empty(seed, ownKey)
            state.listenerNumber = number
            return wakers
        }
        for wake in wakers { wake() }
    }

    private static func empty(_ seed: UInt64, _ key: PrivateKey) -> State {
        var state = State(store: PushStore(seed: seed))
        state.keys[ownKeyID] = ProviderKey(
            id: ownKeyID, team: ownTeam, key: PublicKey(of: key))
        return state
    }

    static let ownKeyID = "SALLYPORT1"
    static let ownTeam = "SALLYTEAM1"

    // MARK: Providers

    /// Whether a provider may push to a topic.
    ///
    /// - Returns: why not; `nil` if it may.
    func refusal(_ request: ServerRequest, topic: String) -> PushReason? {
        guard let field = request.fields.first(.authorization) else {
            let isKnown = request.connection.security?.isClientVerified ?? false
            return isKnown ? nil : .missingProviderToken
        }
        guard field.prefix(7).equalsIgnoringCase("bearer "),
            let token = ProviderToken([UInt8](field.dropFirst(7).trimmingWhitespace))
        else { return .invalidProviderToken }
        let text = [UInt8](field)
        let number = request.connection.number
        let (key, isVerified) = state.withLock {
            ($0.keys[token.keyID], $0.connections[number]?.knows(text) ?? false)
        }
        // Verified ahead of the lock: it takes a tenth of a millisecond.
        guard let key, key.team == token.team, isVerified || token.isSigned(by: key.key) else {
            return .invalidProviderToken
        }
        let reason = state.withLock { state in
            if state.connections.count >= Self.connectionLimit,
                state.connections[number] == nil, let oldest = state.connections.keys.min()
            {
                state.connections[oldest] = nil
            }
            return state.connections[number, default: ProviderConnection()].judge(
                token, text: text, now: request.seconds)
        }
        if let reason { return reason }
        if let environment = key.environment, environment != request.pushEnvironment {
            return .badEnvironmentKeyId
        }
        return key.topics.isEmpty || key.topics.contains(topic) ? nil : .topicDisallowed
    }

    /// Takes one of the answers that were ordered.
    func orderedAnswer() -> Answer? {
        state.withLock { state in
            guard let first = state.answers.first else { return nil }
            state.answers[0].count -= 1
            if state.answers[0].count == 0 { state.answers.removeFirst() }
            return first
        }
    }

    // MARK: Pushes

    /// The app that a push is for.
    func registration(_ push: PushRequest, _ request: ServerRequest) -> (
        Registration?, refusal: PushReason?
    ) {
        guard let found = state.withLock({ $0.registrations[push.token] }),
            found.environment.map({ $0 == request.pushEnvironment }) ?? true
        else { return (nil, .badDeviceToken) }
        guard found.topic == push.topic else { return (nil, .deviceTokenNotForTopic) }
        return (found, found.end?.reason)
    }

    /// - Returns: the number of the push that is accepted next, for its `apns-id`.
    func nextNumber() -> UInt64 {
        state.withLock { state in
            state.number += 1
            return state.number
        }
    }

    func accept(_ notification: PushNotification, for device: String, now: Int64) {
        change(device) { state in
            state.sent[notification.number] = Sent(
                notification: notification, device: device, acceptedAt: now, fate: .stored)
            state.order.append(notification.number)
            if state.order.count > Self.sentLimit { state.sent[state.order.removeFirst()] = nil }
            return state.store.accept(notification, for: device, now: now)
        }
    }

    /// Lets the store work, notes what became of what, and wakes the device.
    @discardableResult
    func change(_ device: String, _ body: (inout State) -> [PushStore.Change]) -> Int {
        let (count, wake) = state.withLock { state in
            let changes = body(&state)
            for change in changes { state.sent[change.number]?.fate = change.fate }
            return (changes.count, state.listeners[device]?.wake)
        }
        wake?()
        return count
    }

    private static let connectionLimit = 1024
    /// How many pushes are remembered.
    static let sentLimit = 4096
}

extension ServerRequest {
    /// The service that is asked: that for development by its name.
    var pushEnvironment: ProviderKey.Environment {
        let host = host ?? ""
        return host.hasPrefix("api.sandbox.") || host.hasPrefix("api.development.")
            ? .sandbox : .production
    }
}
