internal import Synchronization

/// A value that one thread sets, and others wait for.
package final class OneTimeBox<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [@Sendable (Value) -> Void] = []
    }

    package init() {}

    private let state = Mutex(State())

    package func set(_ value: Value) {
        let waiting = state.withLock { state in
            state.value = value
            defer { state.waiting = [] }
            return state.waiting
        }
        for resume in waiting { resume(value) }
    }

    package func whenSet(_ action: @escaping @Sendable () -> Void) {
        add { _ in action() }
    }

    package func get() async -> Value {
        await withCheckedContinuation { continuation in
            add { continuation.resume(returning: $0) }
        }
    }

    private func add(_ action: @escaping @Sendable (Value) -> Void) {
        let value = state.withLock { state -> Value? in
            if state.value == nil { state.waiting.append(action) }
            return state.value
        }
        if let value { action(value) }
    }
}
