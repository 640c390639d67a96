package import Base
internal import HTTPClient
internal import Recording
package import Sockets
package import Transfer

/// The daemon of a folder of transfers.
package enum TransferDaemonRun {
    /// Where a user's transfers are, unless another folder is named.
    ///
    /// Errors: `no-state-folder`.
    package static func standardFolder(
        _ variables: [String: String]
    ) throws(Failure) -> DaemonFolder {
        DaemonFolder(try StateFolder.path(variables) + "/transfers")
    }

    /// Serves until nothing is left to do, or somebody wants it to stop. On the loop's executor only.
    ///
    /// - Parameters:
    ///   - endsWhenIdle: whether it ends when nothing was left to do for a while.
    ///   - onReady: called when programs can connect.
    ///
    /// Errors: `folder-not-private`, `transfers-in-use`, `listen-failed`, `socket-path-too-long`,
    /// those of the files and of `ProxySource`.
    package static func run(
        _ folder: DaemonFolder, by proxies: ProxySource, endsWhenIdle: Bool, on loop: EventLoop,
        processID: Int32,
        onReady: (TransferDaemon) throws -> Void
    ) async throws {
        try folder.prepare()
        let settings = try await proxies.settings(on: loop)
        let authorities = try proxies.authorities()
        var configuration = TransferConfiguration(folder: folder.path)
        configuration.seed = UInt64.random(in: .min ... .max)
        let holder = try HolderNote.present(processID: processID)
        configuration.holder = holder
        configuration.network = DaemonFolder.ownNetworkName(bootID: holder.bootID)
        configuration.credentials = CredentialFiles()
        let network = TrustingNetwork(on: loop) { configuration in
            var configuration = configuration
            configuration.proxies = settings
            configuration.authorities += authorities
            configuration.forwardsCleartext = true
            configuration.keepsSecrecy = true
            configuration.certificateHint = "transfers have no certificate to show to it"
            return HTTPClient(configuration, on: loop, recorder: TrafficRecorder(sink: nil))
        }
        let service = try TransferService(
            configuration, on: loop, network: network, uploads: UploadDriver())
        // Nobody else has the folder, so that a socket which is there is nobody's.
        let listener = try LocalListener(folder.socket, on: loop)
        let daemon = TransferDaemon(
            service, endsWhenIdle ? DaemonLimits() : .staying, processID: processID,
            proxies: proxies.variablesDigest, folder: folder)
        try onReady(daemon)
        await network.run { await service.run { await daemon.run(listener) } }
    }
}
