package import Base
package import HTTPClient
internal import HTTPModel
internal import Origins
internal import Sockets

/// A task while its service has it, and all that its driver needs.
///
/// `@unchecked Sendable`: used on the service's loop; its journal alone is used beside it.
package final class RunningTransfer: @unchecked Sendable {
    package internal(set) var task: TransferTask
    let journal: Journal
    /// The task's own.
    package let folder: String
    private let context: TransferContext
    /// The file of a class that may be written on while it is open, and not be opened again.
    private var openFile: (path: String, file: any DiskFile)?
    /// Ends what is under way; another one for each attempt.
    package internal(set) var stop = ClientStop()

    // What the service keeps of it.
    var isRunning = false
    /// Whether it was compared with its digests, so that none can be named any more, nor can it be
    /// cancelled.
    var isDelivering = false
    /// Whether it is forgotten as soon as its end is through.
    var isAcknowledged = false
    /// In milliseconds of the clock.
    var due: Int64 = 0
    var dueReason = TransferWait.Reason.retry
    var lastFailure: Failure?
    /// When it was last looked at whether it gets on, in milliseconds of the clock, and what it had then.
    var look: (time: Int64, reach: Int64) = (0, 0)
    /// Whether it is stopped for others.
    var givesWay = false
    /// In a row, without progress between them.
    var failures = 0
    var committedAtFailure: Int64 = -1
    /// How much was there, and how often it had begun anew, when it was last gone on with at once.
    var reachAtAgain: (committed: Int64, restarts: Int) = (-1, 0)
    var needsLogin = false
    /// Why no login was sent, or helped nothing.
    var loginFlaw: LoginFlaw?
    /// The last kept event that the owner who is attached now was told.
    var toldCount: Int64 = 0
    let host: String
    private var rate = RateMeter()
    private var toldSent: Int64 = 0
    /// Where the last content ended that only the end of its connection ended, in bytes; `nil` for none of
    /// this version.
    var closedEnd: Int64?
    /// What was last dropped.
    var dropped: SavedVersion?
    /// Whether its origin has answered over TLS, in this process or before it.
    var hasMetOrigin = false
    /// Answers in a row that were failures of the server.
    var brokenParts = 0
    /// Whether parts beside one another were not right.
    var refusesParts = false
    /// An upload's file while an attempt has it open.
    var source: UploadSource?
    /// The version of it that this process has read whole.
    var verifiedSource: FileIdentity?

    init(
        _ task: TransferTask, _ journal: Journal, folder: String, host: String,
        in context: TransferContext
    ) {
        self.task = task
        self.journal = journal
        self.folder = folder
        self.host = host
        self.context = context
    }

    package var network: any TransferNetwork { context.network }
    package var disk: any TransferDisk { context.disk }
    package var clock: any TransferClock { context.clock }
    package var limits: TransferLimits { context.limits }
    var credentials: (any CredentialSource)? { context.credentials }
    var worker: DiskWorker { context.worker }
    var vault: StorageVault? { context.vault }

    /// Tells who watches that it has changed.
    func tellChange() { context.onChange(self) }

    /// Takes a connection to the host for one more request, if one may be had.
    func takeConnection() -> Bool { context.takeConnection(host) }

    func giveConnection() { context.giveConnection(host) }

    package var isStopped: Bool { stop.isStopped }

    /// What the upload's driver last noted.
    package var uploadNote: [UInt8]? { journal.state.upload }

    /// Takes note of what the upload's driver wants to know after a crash, an object of JSON.
    package func note(upload: JSONText) throws(DiskFailure) {
        try journal.append(.upload(upload.line))
    }

    /// Ends an upload whose content has all arrived, with its result's URL and what was sent.
    package func complete(upload url: String, sha256: [UInt8], size: Int64) throws(DiskFailure) {
        try journal.append([
            .verified(VerifiedContent(size: size, sha256: sha256)), .completed(path: url),
        ])
    }

    /// Takes note of who has answered: over TLS nobody else can have, but where a redirect leads has not.
    func noteAnswer(_ head: ResponseHead, from location: OriginLocation) {
        guard location.target.isSecure, !(300..<400).contains(head.status) else { return }
        hasMetOrigin = true
    }

    package func noteRequest() { task.requestCount += 1 }

    /// Takes note of how much is safe at its end: on this disk, or at the origin of an upload.
    package func noteProgress(_ committed: Int64, total: Int64?) {
        task.committed = committed
        task.total = total
        noteRate()
        tellChange()
    }

    /// What is cancelled may still be ending.
    private func noteRate() {
        let rate = rate.note(task.reach, at: clock.elapsed)
        if task.state == .running { task.rate = rate }
    }

    /// Takes note of how much of an upload has gone out, in bytes of the file.
    package func noteSent(_ end: Int64) {
        task.sent = end
        guard end >= toldSent + Self.sentStep || end < toldSent || end == task.total else { return }
        toldSent = end
        noteRate()
        tellChange()
    }

    /// In bytes: so often whoever watches is told.
    private static let sentStep: Int64 = 1 << 20

    package func note(_ state: TransferState) {
        guard task.state != state else { return }
        task.state = state
        if state != .running { task.rate = nil }
        tellChange()
    }

    /// Opens the task's file, as its storage class has it.
    func open(_ path: String, creating: Bool) throws(DiskFailure) -> any DiskFile {
        let storage = task.options.storage
        guard storage != .none else { return try disk.open(path, creating: creating) }
        if let openFile, openFile.path == path { return openFile.file }
        guard let vault else {
            throw DiskFailure(.locked, "cannot open \(path): there is no vault")
        }
        let file = try SealedFile.open(path, storage, vault, on: disk, creating: creating)
        if storage == .completeUnlessOpen { openFile = (path, file) }
        return file
    }

    /// Closes what was kept open.
    func closeFile() { openFile = nil }

    func beginAttempt() {
        stop = ClientStop()
        rate = RateMeter()
        isRunning = true
        givesWay = false
        task.sent = nil
        toldSent = 0
    }

    /// Takes over what the journal says.
    func refresh() {
        let state = journal.state
        task.options = state.plan.options
        task.hops = state.hops
        task.restarts = state.restarts
        if state.saved != nil || state.restartCount > 0 { hasMetOrigin = true }
        if task.kind == .download {
            // What had come is removed.
            task.committed = state.isCancelled ? 0 : state.committedCount
            task.total = state.saved?.length ?? state.verified?.size
        }
        if task.kind == .upload {
            let upload = state.upload.flatMap { UploadState($0) }
            if upload?.resource != nil { hasMetOrigin = true }
            if state.isCancelled { task.sent = nil }
            task.committed = state.verified?.size ?? upload?.offset ?? 0
            task.total = state.verified?.size ?? upload?.size
        }
        task.digest = state.verified?.sha256
        if case .completed(let path) = state.ending { task.path = path }
    }
}
