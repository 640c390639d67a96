package import Base
package import Refresh
package import TLS
package import Transfer

/// What a fetch client is run with: one app with its feeds.
package struct FetchConfiguration: Sendable {
    package var app = RefreshApp("app")
    package var urls: [String] = []
    /// Where its pushes come from; `nil` for none. Its topics are not looked at.
    package var push: DeviceSocket.Configuration?
    /// What its pushes are sent to; `nil` for the app's name.
    package var topic: String?
    /// A management server that says how the app is configured; `nil` for none.
    package var managed: String?
    /// The folder of the state, which no other process may use meanwhile.
    package var store = ""
    /// The folder that whole files go to, from the root on; `nil` for one in the store.
    package var assets: String?
    /// Whose daemon fetches whole files.
    package var transfers = DaemonFolder("")
    /// Trusted besides the system's.
    package var authorities: [Certificate] = []
    /// The file that they are in, for the daemon, from the root on.
    package var authoritiesPath: String?
    package var proxies = ProxySource()
    /// What pauses are drawn from.
    package var seed: UInt64 = 1

    package init() {}

    /// Where state is kept unless another folder is named.
    ///
    /// Errors: `no-state-folder`.
    package static func standardStore(_ variables: [String: String]) throws(Failure) -> String {
        try StateFolder.path(variables) + "/refresh"
    }

    var assetsFolder: String { assets ?? store + "/assets" }
}

/// What happens while a fetch client runs.
package struct FetchEvent: Sendable {
    package enum Kind: Sendable {
        case client(RefreshClient.Event)
        /// A file was left to the daemon, which has written it down as this task.
        case handedOver(HandedAsset, task: String)
        /// The app hears of a transfer that ended well, which is acknowledged then: its file is where it belongs, or is not.
        case transferred(TransferTask, isInPlace: Bool)
        case transferFailed(TransferTask, Failure)
        /// A transfer goes on only when somebody names a login.
        case loginWanted(TransferTask)
        /// The daemon is not heard; it is asked again after so many milliseconds.
        case transfersUnheard(Failure, pause: Int64)
        /// A management server has said how the app is configured.
        case configured(ManagedConfiguration)
        /// Something that was found wrong in the state, or with the management server.
        case note(String)
    }

    /// In milliseconds since 1970.
    package let at: Int64
    package let kind: Kind
}
