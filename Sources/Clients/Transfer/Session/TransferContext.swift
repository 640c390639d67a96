/// What all tasks of a service share.
///
/// `@unchecked Sendable`: its hooks are set before there are tasks, and called on the service's loop.
final class TransferContext: @unchecked Sendable {
    let network: any TransferNetwork
    let disk: any TransferDisk
    let clock: any TransferClock
    let limits: TransferLimits
    let credentials: (any CredentialSource)?
    let vault: StorageVault?
    let worker: DiskWorker
    /// Called when a task has changed.
    var onChange: (RunningTransfer) -> Void = { _ in }
    /// Takes a connection to a host for one more request, if one may be had; it is given back.
    var takeConnection: (String) -> Bool = { _ in false }
    var giveConnection: (String) -> Void = { _ in }

    init(
        network: any TransferNetwork, disk: any TransferDisk, clock: any TransferClock,
        limits: TransferLimits, credentials: (any CredentialSource)?, vault: StorageVault?,
        worker: DiskWorker
    ) {
        self.network = network
        self.disk = disk
        self.clock = clock
        self.limits = limits
        self.credentials = credentials
        self.vault = vault
        self.worker = worker
    }
}
