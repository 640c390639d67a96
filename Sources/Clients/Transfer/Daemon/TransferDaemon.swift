package import Base
package import Sockets

/// Serves a folder's transfers to the programs of one user, over a local socket.
///
/// `@unchecked Sendable`: used on the service's loop.
package final class TransferDaemon: @unchecked Sendable {
    let service: TransferService
    let limits: DaemonLimits
    private let processID: Int32
    let proxies: String?
    private let user: UInt32
    private let userOfPeer: @Sendable (Channel) -> UInt32?
    private let networkOfPeer: @Sendable (Channel) -> String?
    private let clients = BackgroundTasks()
    private let wakeup: LoopWakeup
    private var streams: [ObjectIdentifier: DaemonStream] = [:]
    private var isStopping = false
    /// The file whose lock keeps others out of the folder, and what is at its path since the start.
    private let lock: (path: String, place: FilePlace?)?

    /// Why folders of transfers could not be taken up.
    package var unreadable: [Failure] { service.unreadable }

    /// - Parameters:
    ///   - proxies: a digest of the variables that name its proxies; `nil` where others do.
    ///   - folder: ends it when it is removed, or another one is in its place; `nil` for none.
    ///   - user: whose programs are served.
    ///   - userOfPeer: tells whose program a connection is of.
    ///   - networkOfPeer: tells the network namespace that this program is in.
    package init(
        _ service: TransferService, _ limits: DaemonLimits = DaemonLimits(), processID: Int32,
        proxies: String? = nil, folder: DaemonFolder? = nil, user: UInt32 = ownUser,
        userOfPeer: @escaping @Sendable (Channel) -> UInt32? = { $0.peerUser },
        networkOfPeer: @escaping @Sendable (Channel) -> String? = { $0.peerNetwork }
    ) {
        self.service = service
        self.limits = limits
        self.processID = processID
        self.proxies = proxies
        self.user = user
        self.userOfPeer = userOfPeer
        self.networkOfPeer = networkOfPeer
        lock = folder.map { ($0.lock, FilePlace($0.lock)) }
        wakeup = LoopWakeup(service.loop)
    }

    /// Serves until there is nothing left to do, or somebody wants it to stop.
    ///
    /// - Parameter listener: `nil` for connections that are handed over only.
    package func run(_ listener: LocalListener?) async {
        async let served: Void = clients.run()
        if let listener {
            clients.add { [self] in
                while let channel = await listener.accept() { admit(channel) }
            }
        }
        let look = LoopWakeup(service.loop)
        if lock != nil { clients.add { [self] in await stopWhenFolderGoes(look) } }
        service.onActivity = { [wakeup] in wakeup.wake() }
        await waitUntilIdle()
        look.stop()
        service.onActivity = {}
        isStopping = true
        listener?.close()
        for stream in streams.values { stream.channel.close() }
        clients.stop()
        await served
    }

    /// Ends it; transfers go on when their folder is opened next.
    package func stop() {
        isStopping = true
        wakeup.wake()
    }

    /// Nobody reaches a daemon whose socket has gone with its folder, and nobody wants what it does.
    private func stopWhenFolderGoes(_ look: LoopWakeup) async {
        while let lock, !look.isStopped {
            guard FilePlace(lock.path) == lock.place else { return stop() }
            await look.rest(for: limits.folderTime)
        }
    }

    private func waitUntilIdle() async {
        let clock = service.clock
        var idleSince: Int64?
        while !isStopping {
            guard streams.isEmpty, !service.hasWork else {
                idleSince = nil
                await clock.wait(until: .max, waking: wakeup, isIdle: false)
                continue
            }
            let start = idleSince ?? clock.elapsed
            idleSince = start
            let (due, overflow) = start.addingReportingOverflow(limits.idleTime)
            guard overflow || clock.elapsed < due else { return }
            await clock.wait(until: overflow ? .max : due, waking: wakeup, isIdle: true)
        }
    }

    /// Takes a connection over.
    package func admit(_ channel: Channel) {
        let stream = DaemonStream(channel)
        let refusal = refusal(of: channel)
        if refusal == nil {
            streams[ObjectIdentifier(stream)] = stream
            wakeup.wake()
        }
        clients.add { [self] in
            do throws(Failure) {
                if let refusal {
                    try await stream.send(
                        DaemonReply.failed(refusal).line, patience: limits.patience)
                } else {
                    try await DaemonClientTask(self, stream).run(processID)
                }
            } catch {
                // A client that has gone, or says nothing, is owed nothing more.
                channel.interrupt()
            }
            channel.close()
            streams[ObjectIdentifier(stream)] = nil
            wakeup.wake()
        }
    }

    /// Refuses programs in another network: what they may reach and what watches them do not hold for what
    /// this one does.
    ///
    /// Errors: `daemon-elsewhere`.
    func checkNetwork(of channel: Channel) throws(Failure) {
        guard let own = DaemonFolder.ownNetwork else { return }
        let network = networkOfPeer(channel)
        guard network != own else { return }
        throw Failure(
            "daemon-elsewhere", party: .client,
            network == nil
                ? "the daemon of these transfers cannot see which network this command is in"
                : "the daemon of these transfers is in another network than this command, as"
                    + " sallyport run --capture-all makes one",
            hint:
                "name a folder of its own with --folder, or stop the daemon: sallyport transfer stop"
        )
    }

    private func refusal(of channel: Channel) -> Failure? {
        guard !isStopping else {
            return Failure("daemon-stopping", party: .tool, "the daemon is about to end")
        }
        guard userOfPeer(channel) == user else {
            return Failure(
                "not-allowed", party: .client, "these transfers are another user's")
        }
        guard streams.count < limits.clientLimit else {
            return Failure(
                "too-many-clients", party: .client,
                "\(limits.clientLimit) programs are connected already")
        }
        return nil
    }
}

/// How much a daemon bears.
package struct DaemonLimits: Sendable {
    /// Connections at once.
    package var clientLimit = 64
    /// In milliseconds: how long a client may say nothing between two requests, or in one.
    package var silence: UInt64 = 30_000
    /// In milliseconds: how long a client may take nothing of what it asked for.
    package var patience: UInt64 = 10_000
    /// In milliseconds: how long the daemon stays when there is nothing to do.
    package var idleTime: Int64 = 60_000
    /// Stays though nothing is to do.
    package static var staying: DaemonLimits {
        var limits = DaemonLimits()
        limits.idleTime = .max
        return limits
    }
    /// In milliseconds: how often it looks whether its folder is still there.
    package var folderTime: UInt64 = 10_000
    /// In milliseconds: how often progress is told at most.
    package var progressTime: UInt64 = 100

    package init() {}
}
