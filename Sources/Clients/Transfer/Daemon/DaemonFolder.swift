package import Base
internal import Sockets

/// Where the daemon of a folder of transfers is found.
package struct DaemonFolder: Sendable {
    /// Without a slash at its end.
    package let path: String

    package init(_ path: String) {
        self.path = path
    }

    package var socket: String { path + "/socket" }
    var lock: String { path + "/lock" }
    package var log: String { path + "/daemon.log" }

    /// The network namespace of this process; `nil` where there are none.
    package static let ownNetwork = Files.linkTarget("/proc/self/ns/net")

    /// The network of this process, as no other one is named: `SYSTEM NETWORK`, with the start of the system
    /// and its process namespace, and the network's cookie, which no other one gets until the next start
    /// (Linux 5.14); a namespace's own name is given again. `nil` where there are none.
    package static func ownNetworkName(bootID: String) -> String? {
        guard let processes = Files.linkTarget("/proc/self/ns/pid"), let ownNetwork else {
            return nil
        }
        return "\(bootID)/\(processes) \(networkCookie.map { String($0) } ?? ownNetwork)"
    }

    /// Makes the folder, which has to be its owner's alone: who may write to it may have files
    /// fetched and written under the owner's name.
    ///
    /// Errors: `folder-not-private`, those of the files.
    package func prepare() throws(Failure) {
        try Files.makeOwnFolder(path, "folder of the transfers", option: "--folder")
    }
}
