/// What a service is made with.
package struct TransferConfiguration: Sendable {
    /// The folder that the tasks and their journals are in, without a slash at its end.
    package let folder: String
    package var limits = TransferLimits()
    package var environment = TransferEnvironment()
    /// What waits are drawn from.
    package var seed: UInt64 = 1
    /// The network that this process is in, `SYSTEM NETWORK`: what was let go on in another one of the same
    /// system waits; `nil` where all are one.
    package var network: String?
    package var credentials: (any CredentialSource)?
    /// What whoever wants the folder meanwhile is told.
    package var holder: HolderNote?
    /// The keys of the storage classes; `nil` where files have none but `none`.
    package var vault: StorageVault?

    package init(folder: String) {
        self.folder = folder
    }
}
