package import Sockets
package import Traffic

/// Tells which program of this machine a connection comes from.
///
/// It looks the connection's socket up in the kernel, and then who has it open: first where the last
/// ones were found, which is a few microseconds, and only then through all processes, which is some
/// microseconds for each descriptor of the machine. So a loop asks `recentProcess` itself, and sends
/// what that does not know to a thread that asks `process`.
///
/// One object is used by one thread at a time.
package final class ProcessAttribution {
    private let diagnosis: SocketDiagnosis?
    /// Whose `/proc/PID/net` is read where the kernel cannot be asked; 0 is this process.
    private let namespaceOf: Int32
    private var owners = SocketOwners()
    private var records = ProcessRecords()

    /// - Parameters:
    ///   - diagnosis: of the network namespace that the clients are in; `nil` to read `/proc` only.
    ///   - namespaceOf: a process in that network namespace, 0 for this one.
    package init(diagnosis: SocketDiagnosis? = SocketDiagnosis(), namespaceOf: Int32 = 0) {
        self.diagnosis = diagnosis
        self.namespaceOf = namespaceOf
    }

    /// The program at the other end of an accepted connection.
    ///
    /// It has to be asked while the connection is open at the client.
    ///
    /// - Parameters:
    ///   - client: the client's own address, our `getpeername`.
    ///   - server: where the client connected to, as it sees that: for a connection that was led here,
    ///     the original destination.
    /// - Returns: `nil` for a client on another machine, one that has closed the connection already,
    ///   and one of another user, whose descriptors only root may see.
    package func process(client: SocketAddress, server: SocketAddress) -> ProcessRecord? {
        guard let inode = inode(client: client, server: server),
            let id = owners.recentOwner(of: inode) ?? owners.search(inode)
        else { return nil }
        return records.record(id)
    }

    /// As `process`, without a search through all processes; `.unknown` if that would be needed.
    package func recentProcess(client: SocketAddress, server: SocketAddress) -> RecentOutcome {
        guard let inode = inode(client: client, server: server) else { return .none }
        guard let id = owners.recentOwner(of: inode) else { return .unknown }
        return records.record(id).map(RecentOutcome.process) ?? .none
    }

    package enum RecentOutcome: Sendable, Equatable {
        case process(ProcessRecord)
        /// There is no such socket on this machine.
        case none
        /// There is one; whose it is only a search can tell.
        case unknown
    }

    private func inode(client: SocketAddress, server: SocketAddress) -> UInt64? {
        let found: UInt64?
        if let socket = diagnosis?.socket(local: client, remote: server) {
            found = socket.isListening ? nil : socket.inode
        } else if diagnosis == nil {
            found = SocketTable.inode(local: client, remote: server, seenBy: namespaceOf)
        } else {
            found = nil
        }
        return found == 0 ? nil : found
    }
}
