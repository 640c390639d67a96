internal import Base
internal import Sockets

/// Serves one client: its requests, one after the other.
struct DaemonClientTask: Sendable {
    private let daemon: TransferDaemon
    private let stream: DaemonStream

    init(_ daemon: TransferDaemon, _ stream: DaemonStream) {
        self.daemon = daemon
        self.stream = stream
    }

    /// Returns when the client has gone, or said what cannot be read.
    ///
    /// Errors: `connection-lost`.
    func run(_ processID: Int32) async throws(Failure) {
        try await send(
            .ready(processID: Int64(processID), proxies: daemon.proxies))
        while let request = try await next() {
            do throws(Failure) {
                try await answer(request)
            } catch {
                guard error.code != Self.lost else { throw error }
                try await send(.failed(error))
                continue
            }
            try await send(.done)
            if request == .stop { return daemon.stop() }
        }
    }

    /// `nil` if there is none, and none can follow.
    private func next() async throws(Failure) -> DaemonRequest? {
        let channel = stream.channel
        let (due, overflow) = channel.loop.now.addingReportingOverflow(daemon.limits.silence)
        channel.readDeadline = overflow ? .max : due
        do throws(Failure) {
            guard let line = try await stream.next() else { return nil }
            return try DaemonRequest(line: line)
        } catch {
            guard error.code != Self.lost else { throw error }
            // Where a line cannot be read, nobody knows what the next ones mean.
            try await send(.failed(error))
            return nil
        }
    }

    private func send(_ reply: DaemonReply) async throws(Failure) {
        try await stream.send(reply.line, patience: daemon.limits.patience)
    }

    private static let lost = "connection-lost"

    // MARK: Requests

    private func answer(_ request: DaemonRequest) async throws(Failure) {
        let service = daemon.service
        if request.needsNetwork { try daemon.checkNetwork(of: stream.channel) }
        switch request {
        case .list(let session):
            // One after the other: all of them together take more memory than all else.
            for identifier in service.identifiers(session: session) {
                if let task = service.task(identifier) { try await send(.task(task)) }
            }
        case .show(let identifier): try await show(identifier)
        case .add(let plan):
            guard service.does(plan.kind) else {
                throw Failure(
                    "no-driver", party: .tool, "this version does downloads only, no uploads")
            }
            var task = try service.transfer(doing: plan)
            if task == nil { task = try service.enqueue(plan) }
            guard let task else { break }
            try service.resume(task.identifier)
            try await show(task.identifier)
        case .resume(let identifier):
            try service.resume(identifier)
            try await show(identifier)
        case .suspend(let identifier):
            try service.suspend(identifier)
            try await show(identifier)
        case .cancel(let identifier):
            // Its origin is told.
            if service.task(identifier)?.kind == .upload {
                try daemon.checkNetwork(of: stream.channel)
            }
            try service.cancel(identifier)
            try await show(identifier)
        case .acknowledge(let identifier, let event):
            try service.acknowledge(identifier, event: event ?? .max)
        case .follow(let identifier): try await follow(identifier)
        case .watch(let session): try await watch(session)
        case .stop: break
        }
    }

    private func show(_ identifier: String) async throws(Failure) {
        guard let task = daemon.service.task(identifier) else {
            throw Failure(
                "no-such-transfer", party: .client,
                "there is no transfer \(identifier.prefix(64))")
        }
        try await send(.task(task))
    }

    /// Tells of a task until it has ended, or the client says or ends something.
    private func follow(_ identifier: String) async throws(Failure) {
        try await show(identifier)
        let service = daemon.service
        // Another one who waits may have it forgotten first.
        guard let transfer = service.transfers[identifier] else { return }
        let wakeup = LoopWakeup(service.loop)
        service.addWatcher(wakeup, of: identifier)
        defer { service.removeWatcher(wakeup, of: identifier) }
        try await untilClientSpeaks(wakeup.stop) { () async throws(Failure) in
            var told = transfer.task
            while !wakeup.isStopped {
                let task = transfer.task
                if task != told {
                    try await send(.task(task))
                    told = task
                    guard !task.state.isFinal else { return }
                    await rest(wakeup, beside: transfer)
                } else if task.state.isFinal {
                    return
                } else {
                    _ = await wakeup.wait(until: .max)
                }
            }
        }
    }

    /// Waits until it is time to tell how far a task is, or it has ended.
    private func rest(_ wakeup: LoopWakeup, beside transfer: RunningTransfer) async {
        let due = wakeup.loop.now + daemon.limits.progressTime
        while !wakeup.isStopped, !transfer.task.state.isFinal, wakeup.loop.now < due {
            _ = await wakeup.wait(until: due)
        }
    }

    /// Tells of a session until the client says or ends something.
    private func watch(_ session: String) async throws(Failure) {
        let events = try daemon.service.attach(session: session)
        defer { events.close() }
        try await untilClientSpeaks(events.close) { () async throws(Failure) in
            while let event = await events.next() { try await send(.event(event)) }
        }
    }

    /// Does `body`, and `end` once the client sends or ends something.
    private func untilClientSpeaks(
        _ end: @escaping () -> Void, _ body: () async throws(Failure) -> Void
    ) async throws(Failure) {
        let channel = stream.channel
        channel.readDeadline = .max
        let listening = ListeningTask(stream, end)
        async let heard: Void = listening.run()
        do throws(Failure) {
            try await body()
        } catch {
            channel.interrupt()
            await heard
            throw error
        }
        channel.interrupt()
        await heard
        channel.resumeWaiting()
    }
}

/// Waits for a client to send or end something.
///
/// `@unchecked Sendable`: used on the stream's loop.
private final class ListeningTask: @unchecked Sendable {
    private let stream: DaemonStream
    private let end: () -> Void

    init(_ stream: DaemonStream, _ end: @escaping () -> Void) {
        self.stream = stream
        self.end = end
    }

    func run() async {
        await stream.waitForMore()
        end()
    }
}
