package import Base
internal import HTTPClient
internal import Origins
internal import Sockets

/// What owners ask for.
extension TransferService {
    /// Takes a task, suspended.
    ///
    /// Errors: `url-invalid`, `too-many-transfers`, `file-exists`, `upload-invalid`,
    /// `source-unreadable`, those of the files.
    package func enqueue(_ plan: TransferPlan) throws(Failure) -> TransferTask {
        let location = try OriginLocation(plan.url)
        if plan.kind == .upload { try checkUpload(plan) }
        guard transfers.count < configuration.limits.taskLimit else {
            throw Failure(
                "too-many-transfers", party: .client,
                "there are \(transfers.count) transfers already",
                hint: "acknowledge those that have ended")
        }
        let identifier = UUIDText.random()
        let folder = "\(configuration.folder)/\(identifier)"
        do throws(DiskFailure) {
            try check(plan)
            try disk.makeFolder(folder)
            let journal = try Journal.create(
                "\(folder)/journal", plan, at: clock.now, on: disk)
            try disk.syncFolder(folder)
            try disk.syncFolder(configuration.folder)
            let transfer = made(identifier, journal, folder, host: location.target.authority)
            if plan.options.isFromWake {
                transfer.due = launches.start(enqueuedAt: clock.elapsed)
                transfer.dueReason = .launchDelay
            }
            enter(transfer)
            return transfer.task
        } catch {
            discard(folder)
            throw error.failure
        }
    }

    /// Removes what there is of a task that could not be taken.
    private func discard(_ folder: String) {
        do throws(DiskFailure) {
            try Journal.remove("\(folder)/journal", on: disk)
            try disk.remove(folder)
        } catch {
            // It is there when the folder is opened next, suspended: what is wrong is told already.
            return
        }
    }

    private func checkUpload(_ plan: TransferPlan) throws(Failure) {
        try plan.options.upload.check()
        guard plan.options.storage == .none else {
            throw UploadOptions.invalid("a storage class is for downloads")
        }
        guard let file = plan.file else { throw UploadOptions.invalid("no file is named") }
        do throws(DiskFailure) {
            _ = try disk.openSource(file)
        } catch {
            throw Failure("source-unreadable", party: .client, error.detail)
        }
    }

    private func check(_ plan: TransferPlan) throws(DiskFailure) {
        if plan.options.storage != .none, configuration.vault == nil {
            throw DiskFailure(.locked, "there is no vault for storage classes")
        }
        guard plan.kind == .download, let file = plan.file else { return }
        guard !plan.options.replacesFile else { return try disk.checkReplacing(file) }
        guard try disk.size(of: file) == nil else {
            throw DiskFailure(.exists, "cannot make \(file): there is one")
        }
    }

    func made(
        _ identifier: String, _ journal: Journal, _ folder: String, host: String
    ) -> RunningTransfer {
        let state = journal.state
        return RunningTransfer(
            TransferTask(state.plan, identifier: identifier, createdAt: state.createdAt), journal,
            folder: folder, host: host, in: context)
    }

    /// All tasks, or those of a session, from the oldest on.
    package func tasks(session: String? = nil) -> [TransferTask] {
        identifiers(session: session).compactMap { task($0) }
    }

    /// The same, by their identifiers.
    func identifiers(session: String?) -> [String] {
        transfers.values.filter { session == nil || $0.task.session == session }
            .map { ($0.task.createdAt, $0.task.identifier) }.sorted { $0 < $1 }.map(\.1)
    }

    package func task(_ identifier: String) -> TransferTask? { transfers[identifier]?.task }

    /// Lets a task go on. What has ended stays so.
    ///
    /// Errors: `no-such-transfer`, those of the files.
    package func resume(_ identifier: String) throws(Failure) {
        let transfer = try found(identifier)
        transfer.needsLogin = false
        if transfer.dueReason != .launchDelay { transfer.due = 0 }
        transfer.failures = 0
        if let network = configuration.network, network != transfer.journal.state.network {
            try append(.network(network), to: transfer)
        }
        try append(.resumed(true), to: transfer)
        settle(transfer)
        wake()
    }

    /// Errors: `no-such-transfer`, those of the files.
    package func suspend(_ identifier: String) throws(Failure) {
        let transfer = try found(identifier)
        try append(.resumed(false), to: transfer)
        transfer.stop.stop()
        settle(transfer)
    }

    /// Ends a task; what has come of it is removed.
    ///
    /// Errors: `no-such-transfer`, those of the files; `transfer-ending` if its file is being delivered.
    package func cancel(_ identifier: String) throws(Failure) {
        let transfer = try found(identifier)
        guard !transfer.task.state.isFinal else { return }
        guard !transfer.isDelivering else {
            throw Self.ending(identifier, "is not cancelled any more")
        }
        try append(.cancelled, to: transfer)
        transfer.stop.stop()
        transfer.refresh()
        settle(transfer)
        guard !transfer.isRunning else { return }
        removeContent(of: transfer)
        cleanUp(transfer)
    }

    /// Changes how a task may be done.
    ///
    /// Errors: `no-such-transfer`, those of the files; `transfer-ending` for a digest that comes too late to
    /// be compared.
    package func change(_ identifier: String, to options: TransferOptions) throws(Failure) {
        let transfer = try found(identifier)
        if transfer.isDelivering, options.expected != transfer.task.options.expected {
            throw Self.ending(identifier, "is compared with no other digest")
        }
        try append(.optionsChanged(options), to: transfer)
        transfer.task.options = options
        reorder()
        update(environment)
    }

    private static func ending(_ identifier: String, _ what: String) -> Failure {
        Failure(
            "transfer-ending", party: .client, "the transfer \(identifier) is ending, and \(what)",
            hint: "give the command again")
    }

    /// Opens the file of a completed download for reading, as its storage class lets it.
    ///
    /// Errors: `no-such-transfer`, `storage-locked`, those of the files.
    package func open(_ identifier: String) throws(Failure) -> any DiskFile {
        let transfer = try found(identifier)
        do throws(DiskFailure) {
            guard let path = transfer.task.path else {
                throw DiskFailure(.missing, "the transfer is not completed")
            }
            return try transfer.open(path, creating: false)
        } catch {
            throw error.failure
        }
    }

    // MARK: The device

    /// The device is locked: what must not be read then is not.
    package func lock() {
        configuration.vault?.lock()
        updateKeys()
    }

    /// - Returns: whether the passcode is right.
    package func unlock(passcode: [UInt8]) -> Bool {
        defer { updateKeys() }
        return configuration.vault?.unlock(passcode: passcode) ?? false
    }

    private func updateKeys() {
        guard let vault = configuration.vault else { return }
        var environment = environment
        environment.isLocked = vault.isLocked
        environment.wasUnlocked = vault.wasUnlocked
        update(environment)
    }

    /// The program was woken for its transfers: what it enqueues from there is delayed.
    package func noteLaunch() { launches.noteLaunch(now: clock.elapsed) }

    // MARK: Events

    /// Takes up a session: what was not acknowledged is told again.
    ///
    /// Errors: `session-in-use`.
    package func attach(session: String) throws(Failure) -> TransferEvents {
        if let other = events[session], !other.isClosed {
            throw Failure(
                "session-in-use", party: .client, "another program has the session \(session)")
        }
        let stream = TransferEvents(session: session, on: loop)
        events[session] = stream
        stream.onDelivery = { [weak self] event in self?.noteDelivery(event) }
        for task in tasks(session: session) {
            if let transfer = transfers[task.identifier] { transfer.toldCount = 0 }
            if let transfer = transfers[task.identifier] { tell(transfer) }
        }
        return stream
    }

    /// Tells what was not told since the session was attached.
    func tell(_ transfer: RunningTransfer) {
        guard let stream = events[transfer.task.session], !stream.isClosed else { return }
        for event in transfer.journal.state.pendingEvents where event.number > transfer.toldCount {
            transfer.toldCount = event.number
            stream.add(TransferEvent(number: event.number, event.kind, transfer.task))
        }
    }

    private func noteDelivery(_ event: TransferEvent) {
        guard let transfer = transfers[event.task.identifier],
            transfer.journal.state.delivered < event.number
        else { return }
        do throws(Failure) {
            try append(.delivered(event.number), to: transfer)
        } catch {
            // It is told again, which is what happens to what was not written down.
            transfer.lastFailure = error
        }
    }

    /// Called when a task has changed.
    func note(_ transfer: RunningTransfer) {
        defer { onActivity() }
        if let stream = events[transfer.task.session], !stream.isClosed {
            stream.add(TransferEvent(number: 0, .progress, transfer.task))
        }
        for watcher in watchers[transfer.task.identifier] ?? [] { watcher.wake() }
    }

    /// Waits until a task is as it should be.
    ///
    /// - Returns: the task; `nil` if there is none any more.
    package func wait(
        for identifier: String, until isRight: (TransferTask) -> Bool = { $0.state.isFinal }
    ) async -> TransferTask? {
        let wakeup = LoopWakeup(loop)
        addWatcher(wakeup, of: identifier)
        defer { removeWatcher(wakeup, of: identifier) }
        while let transfer = transfers[identifier] {
            if isRight(transfer.task) { return transfer.task }
            _ = await wakeup.wait(until: .max)
        }
        return nil
    }

    /// Wakes somebody whenever a task has changed, until that is taken back.
    func addWatcher(_ wakeup: LoopWakeup, of identifier: String) {
        watchers[identifier, default: []].append(wakeup)
    }

    func removeWatcher(_ wakeup: LoopWakeup, of identifier: String) {
        watchers[identifier]?.removeAll { $0 === wakeup }
        if watchers[identifier]?.isEmpty ?? false { watchers[identifier] = nil }
    }

    /// Takes notice that the owner has heard an event. A task that has ended is forgotten with it, and
    /// its file, where the owner named none and did not move it away.
    ///
    /// Errors: `no-such-transfer`, those of the files.
    package func acknowledge(_ identifier: String, event number: Int64 = .max) throws(Failure) {
        let transfer = try found(identifier)
        let last = transfer.journal.state.events.last?.number ?? 0
        try append(.acknowledged(min(number, last)), to: transfer)
        guard transfer.task.state.isFinal, min(number, last) == last else { return }
        // One that is still being ended is forgotten then.
        transfer.isAcknowledged = transfer.isRunning
        if !transfer.isRunning { forget(transfer) }
    }

    private func found(_ identifier: String) throws(Failure) -> RunningTransfer {
        guard let transfer = transfers[identifier] else {
            throw Failure(
                "no-such-transfer", party: .client, "there is no transfer \(identifier.prefix(64))")
        }
        return transfer
    }

    private func append(
        _ record: JournalRecord, to transfer: RunningTransfer
    ) throws(Failure) {
        do throws(DiskFailure) {
            try transfer.journal.append(record)
        } catch {
            throw error.failure
        }
    }
}
