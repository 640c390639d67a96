package import Base
internal import HTTPClient
package import Sockets

/// Owns the transfers of a folder: makes them go on after a crash, and when they may, and tells their
/// owners until they have heard.
///
/// One task's life: `enqueue` (suspended), `resume`, and then `waiting` and `running` in turn, until it
/// is completed, has failed or is cancelled; `acknowledge` forgets it, with its file where that was not
/// taken away.
///
/// `@unchecked Sendable`: everything but `init` and what is said to be otherwise runs on its loop.
package final class TransferService: @unchecked Sendable {
    package let configuration: TransferConfiguration
    package let loop: EventLoop
    let context: TransferContext
    let drivers: [TransferTask.Kind: any TransferDriver]
    let background = BackgroundTasks()
    let wakeup: LoopWakeup
    private let claim: any DiskFile

    var transfers: [String: RunningTransfer] = [:]
    /// Those that have ended among them.
    var targets: [TransferTarget: RunningTransfer] = [:]
    /// Uploads with the same target that have not ended either, of other versions of the file.
    var otherUploads: [TransferTarget: [RunningTransfer]] = [:]
    /// Those that have not ended, by priority and age.
    var queue: [RunningTransfer] = []
    var isSorted = true
    var running: [String: RunningTransfer] = [:]
    var runningHosts: [String: Int] = [:]
    /// Those that were cancelled, and whose origin is told so.
    var cleaning: [RunningTransfer] = []
    var events: [String: TransferEvents] = [:]
    var watchers: [String: [LoopWakeup]] = [:]
    private(set) var environment: TransferEnvironment
    var launches = LaunchLimiter()
    var budget = RetryBudget()
    /// Why folders of transfers could not be taken up when it was opened.
    package internal(set) var unreadable: [Failure] = []
    var isClosing = false
    /// Called when a task has changed, or is forgotten.
    var onActivity: () -> Void = {}

    /// Opens the folder, which no other process may have, and takes up what is in it.
    ///
    /// Errors: `transfers-in-use`, those of the files.
    package init(
        _ configuration: TransferConfiguration, on loop: EventLoop, network: any TransferNetwork,
        uploads: (any TransferDriver)? = nil, disk: any TransferDisk = SystemDisk(),
        clock: any TransferClock = SystemClock()
    ) throws(Failure) {
        self.configuration = configuration
        self.loop = loop
        var environment = configuration.environment
        if let vault = configuration.vault {
            environment.isLocked = vault.isLocked
            environment.wasUnlocked = vault.wasUnlocked
        }
        self.environment = environment
        context = TransferContext(
            network: network, disk: disk, clock: clock, limits: configuration.limits,
            credentials: configuration.credentials, vault: configuration.vault,
            worker: DiskWorker(for: disk, on: loop))
        wakeup = LoopWakeup(loop)
        var drivers: [TransferTask.Kind: any TransferDriver] = [.download: DownloadDriver()]
        drivers[.upload] = uploads
        self.drivers = drivers
        do throws(DiskFailure) {
            try disk.makeFolder(configuration.folder)
            claim = try disk.open("\(configuration.folder)/lock", creating: true)
            guard try claim.claim() else {
                throw DiskFailure(.other, "")
            }
            if let holder = configuration.holder { try Self.note(holder, in: claim) }
            listen()
            try recover()
        } catch {
            throw error.detail.isEmpty ? Self.inUse(configuration, disk) : error.failure
        }
    }

    private static func note(
        _ holder: HolderNote, in claim: any DiskFile
    ) throws(DiskFailure) {
        try claim.truncate(to: 0)
        try claim.write(holder.line.span, at: 0)
    }

    private static func inUse(
        _ configuration: TransferConfiguration, _ disk: any TransferDisk
    ) -> Failure {
        var holder: HolderNote?
        do throws(DiskFailure) {
            let file = try disk.open("\(configuration.folder)/lock", creating: false)
            holder = HolderNote(try file.read(at: 0, count: HolderNote.sizeLimit))
        } catch {
            // It is told without: that somebody has it is certain.
            holder = nil
        }
        let isOfNow = configuration.holder.map { $0.bootID == holder?.bootID } ?? true
        let who = isOfNow ? holder.map { "process \($0.processID)" } : nil
        return Failure(
            "transfers-in-use", party: .tool,
            "\(who ?? "another program") has the transfers in \(configuration.folder)",
            hint: "end it with 'sallyport transfer stop', or name another folder: --folder")
    }

    /// Runs `body` while transfers go on; those that are under way when it returns go on when the
    /// folder is opened next.
    package func run<Result: Sendable>(
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        async let work: Void = background.run()
        background.add { await self.schedule() }
        do {
            let result = try await body()
            close()
            await work
            return result
        } catch {
            close()
            await work
            throw error
        }
    }

    private func close() {
        isClosing = true
        for transfer in running.values { transfer.stop.stop() }
        for transfer in cleaning { transfer.stop.stop() }
        for stream in events.values { stream.close() }
        wakeup.wake()
        background.stop()
    }

    /// Whether there is a task that goes on by itself, now or later, or one that was cancelled whose
    /// origin is being told.
    package var hasWork: Bool {
        !running.isEmpty || !cleaning.isEmpty
            || queue.contains { transfer in
                switch transfer.task.state {
                case .suspended, .completed, .failed, .cancelled: false
                case .waiting(let wait): !wait.reason.needsOwner
                case .running, .verifying: true
                }
            }
    }

    var network: any TransferNetwork { context.network }
    var disk: any TransferDisk { context.disk }
    var clock: any TransferClock { context.clock }
    var worker: DiskWorker { context.worker }

    /// Whether it does tasks of this kind.
    package func does(_ kind: TransferTask.Kind) -> Bool { drivers[kind] != nil }

    // MARK: Its tasks

    /// Takes another look at who may run.
    func wake() { wakeup.wake() }

    /// Hears of what its tasks do.
    private func listen() {
        context.onChange = { [weak self] in self?.note($0) }
        context.takeConnection = { [weak self] host in
            guard let self, (runningHosts[host] ?? 0) < configuration.limits.hostLimit else {
                return false
            }
            takeConnection(to: host)
            return true
        }
        context.giveConnection = { [weak self] host in
            self?.giveConnection(to: host)
            self?.wake()
        }
    }

    func enter(_ transfer: RunningTransfer) {
        transfers[transfer.task.identifier] = transfer
        noteTarget(of: transfer)
        guard !transfer.task.state.isFinal else { return }
        queue.append(transfer)
        isSorted = false
    }

    /// Begins to count a task's place anew.
    func reorder() { isSorted = false }

    // MARK: The environment

    /// Takes notice of what has changed; those that may not go on are stopped.
    package func update(_ environment: TransferEnvironment) {
        if environment.isForeground, !self.environment.isForeground { launches.noteForeground() }
        let isOpened = self.environment.isLocked && !environment.isLocked
        self.environment = environment
        for transfer in queue where isOpened && transfer.dueReason == .locked { transfer.due = 0 }
        for transfer in running.values
        where StartRule.wait(transfer.task.options, in: environment) != nil {
            transfer.stop.stop()
        }
        wake()
    }
}
