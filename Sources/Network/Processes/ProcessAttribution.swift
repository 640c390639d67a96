internal import Glibc
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
    private let ourselves = geteuid()
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
        guard let socket = socket(client: client, server: server),
            let id = owners.recentOwner(of: socket.inode) ?? search(socket)
        else { return nil }
        return records.record(id)
    }

    /// As `process`, without a search through all processes; `.unknown` if that would be needed.
    package func recentProcess(client: SocketAddress, server: SocketAddress) -> RecentOutcome {
        guard let socket = socket(client: client, server: server) else { return .none }
        if let id = owners.recentOwner(of: socket.inode) {
            return records.record(id).map(RecentOutcome.process) ?? .none
        }
        return mayBeSeen(socket) ? .unknown : .none
    }

    package enum RecentOutcome: Sendable, Equatable {
        case process(ProcessRecord)
        /// There is no such socket on this machine, or it is another user's.
        case none
        /// There is one; whose it is only a search can tell.
        case unknown
    }

    private func search(_ socket: SocketDiagnosis.Socket) -> Int32? {
        mayBeSeen(socket) ? owners.search(socket.inode) : nil
    }

    /// The descriptors of other users' processes are not shown, so that a search would be in vain.
    private func mayBeSeen(_ socket: SocketDiagnosis.Socket) -> Bool {
        ourselves == 0 || socket.user == ourselves
    }

    private func socket(
        client: SocketAddress, server: SocketAddress
    ) -> SocketDiagnosis.Socket? {
        let found =
            if let diagnosis {
                diagnosis.socket(local: client, remote: server)
            } else {
                SocketTable.socket(local: client, remote: server, seenBy: namespaceOf)
            }
        guard let found, !found.isListening, found.inode != 0 else { return nil }
        return found
    }
}
