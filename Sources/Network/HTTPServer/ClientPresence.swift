internal import Synchronization

/// Whether the client of an exchange still waits for it, for work that goes on beside its loop.
///
/// The exchange's task has it as a task-local value: whoever digests for minutes, many calls below
/// the route, asks it from time to time and gives up.
package final class ClientPresence: Sendable {
    /// Of the exchange that the task serves; `nil` outside of the server.
    @TaskLocal package static var current: ClientPresence?

    private let hasLeft = Atomic(false)

    package init() {}

    package var isGone: Bool { hasLeft.load(ordering: .relaxed) }

    package func leave() { hasLeft.store(true, ordering: .relaxed) }
}
