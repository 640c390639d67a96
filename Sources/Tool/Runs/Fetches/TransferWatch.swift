internal import Base
internal import Refresh
internal import Sockets
internal import Transfer

/// Follows what the daemon tells of an app's transfers, has the app woken, and acknowledges what it
/// has heard: what it has not, the daemon tells again.
///
/// `@unchecked Sendable`: used on its loop.
final class TransferWatch: EndedTransfers, @unchecked Sendable {
    private let configuration: FetchConfiguration
    private let handover: TransferHandover
    private let signal: LoopWakeup
    private let tell: (FetchEvent.Kind) -> Void
    private var rule: ReconnectRule
    /// Of which the app has not heard.
    private var ended: [TransferEvent] = []
    private var connection: DaemonConnection?
    private var isStopping = false
    private var isSettling = false
    /// Called when there is something to hear of.
    var onEnd: () -> Void = {}

    init(
        _ configuration: FetchConfiguration, _ handover: TransferHandover, on loop: EventLoop,
        tell: @escaping (FetchEvent.Kind) -> Void
    ) {
        self.configuration = configuration
        self.handover = handover
        self.tell = tell
        signal = LoopWakeup(loop)
        rule = ReconnectRule(seed: configuration.seed)
        handover.onHandover = { [signal] in signal.wake() }
    }

    /// Ends ``run()``.
    func stop() {
        isStopping = true
        connection?.close()
        signal.wake()
    }

    /// Follows until it is stopped. Where there are no transfers, no daemon is started.
    func run() async {
        while !isStopping, !Files.exists(configuration.transfers.path) {
            _ = await signal.wait(until: .max)
        }
        while !isStopping {
            var failure = Failure(
                "connection-lost", party: .tool, "the daemon of the transfers has ended")
            do throws(Failure) {
                try await follow()
            } catch {
                failure = error
            }
            guard !isStopping else { return }
            let pause = rule.noteEnd()
            tell(.transfersUnheard(failure, pause: pause))
            _ = await signal.wait(until: signal.loop.now + UInt64(pause))
        }
    }

    private func follow() async throws(Failure) {
        let connection = try await handover.open()
        defer { connection.close() }
        guard !isStopping else { return }
        self.connection = connection
        defer { self.connection = nil }
        try await connection.ask(.watch(session: configuration.app.name)) { reply in
            rule.noteSuccess()
            guard case .event(let event) = reply, event.isKept else { return }
            let isKnown = ended.contains {
                $0.task.identifier == event.task.identifier && $0.number == event.number
            }
            if !isKnown { ended.append(event) }
            onEnd()
        }
    }

    // MARK: What the app hears of

    func settle() async {
        guard !ended.isEmpty, !isSettling else { return }
        isSettling = true
        defer { isSettling = false }
        await acknowledgeAll()
    }

    private func acknowledgeAll() async {
        do throws(Failure) {
            let connection = try await handover.open()
            defer { connection.close() }
            while let event = ended.first {
                // Told first: who ends in between is told again, and not never.
                note(event.kind, of: event.task)
                _ = try await connection.tasks(
                    .acknowledge(event.task.identifier, event: event.number))
                ended.removeFirst()
            }
        } catch {
            guard error.code != "no-such-transfer" else {
                // Somebody else has heard of it.
                ended.removeFirst()
                return await acknowledgeAll()
            }
            tell(.transfersUnheard(error, pause: 0))
        }
    }

    /// Hears of what has ended up to now, for who does not stay to be woken.
    func hear() async {
        guard Files.exists(configuration.transfers.path) else { return }
        do throws(Failure) {
            let connection = try await handover.open()
            defer { connection.close() }
            let tasks = try await connection.tasks(.list(session: configuration.app.name))
            for task in tasks where task.state.isFinal {
                if let kind = task.state.ending { note(kind, of: task) }
                _ = try await connection.tasks(.acknowledge(task.identifier, event: nil))
            }
        } catch {
            tell(.transfersUnheard(error, pause: 0))
        }
    }

    private func note(_ kind: TransferEvent.Kind, of task: TransferTask) {
        switch kind {
        case .completed:
            handover.forget(task.url)
            tell(.transferred(task, isInPlace: task.file.map(Files.exists) ?? false))
        case .failed(let failure):
            handover.forget(task.url)
            tell(.transferFailed(task, failure))
        case .authentication: tell(.loginWanted(task))
        case .progress: break
        }
    }
}

extension TransferState {
    /// What its owner is told of it; `nil` while it goes on, and for what the owner has cancelled.
    fileprivate var ending: TransferEvent.Kind? {
        switch self {
        case .completed: .completed
        case .failed(let failure): .failed(failure)
        case .suspended, .waiting, .running, .verifying, .cancelled: nil
        }
    }
}
