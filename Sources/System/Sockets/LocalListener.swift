package import Base
internal import CPlatform
internal import Glibc

/// A listening socket at a path of the file system, which this machine's programs alone reach
/// (unix(7)).
///
/// `@unchecked Sendable`: used on its loop's thread only.
package final class LocalListener: @unchecked Sendable {
    private let channel: Channel
    package let path: String
    /// The socket that was made there.
    private let file: FilePlace?

    /// Listens at a path, where only programs of its owner get in. A socket that is there is taken
    /// away: whoever calls this has made sure that nobody listens at it. On the loop's thread only.
    ///
    /// Errors: `listen-failed`, `socket-path-too-long`.
    package init(_ path: String, on loop: EventLoop) throws(Failure) {
        let bytes = try LocalPath.bytes(path)
        try Self.removeStale(path)
        let descriptor = platform_stream_socket(AF_UNIX)
        guard descriptor >= 0 else { throw Self.failure(path, SystemError(errno)) }
        do throws(SystemError) {
            // Before the path is there, so that nobody gets in between; the kernel takes it over.
            guard fchmod(descriptor, 0o600) == 0,
                unsafe platform_local_bind(descriptor, bytes, UInt(bytes.count)) == 0,
                listen(descriptor, Self.backlog) == 0
            else { throw SystemError(errno) }
        } catch {
            Glibc.close(descriptor)
            throw Self.failure(path, error)
        }
        do throws(SystemError) {
            channel = try Channel(descriptor: descriptor, loop: loop)
        } catch {
            throw Self.failure(path, error)
        }
        self.path = path
        file = FilePlace(path)
    }

    /// Connections that wait to be accepted.
    private static let backlog: Int32 = 128

    private static func removeStale(_ path: String) throws(Failure) {
        var facts = stat()
        guard unsafe lstat(path, &facts) == 0 else { return }
        guard facts.st_mode & S_IFMT == S_IFSOCK else {
            throw Failure(
                "listen-failed", party: .tool, "cannot listen at \(path): a file is there",
                hint: "move it away")
        }
        unsafe unlink(path)
    }

    private static func failure(_ path: String, _ error: SystemError) -> Failure {
        Failure("listen-failed", party: .tool, "cannot listen at \(path): \(error)")
    }

    /// Waits for the next connection; `nil` once the listener is closed.
    package func accept() async -> Channel? { await channel.acceptNext()?.channel }

    /// Stops accepting, and takes the socket's path away, unless another socket has it now.
    package func close() {
        guard !channel.isClosed else { return }
        if file == FilePlace(path) { unsafe unlink(path) }
        channel.close()
    }
}

extension Channel {
    /// Connects to a socket at a path; on the loop's thread only.
    ///
    /// - Returns: `nil` if nobody listens there, or nobody has room at present.
    ///
    /// Errors: `connect-failed`, `socket-path-too-long`.
    package static func connect(
        toPath path: String, on loop: EventLoop
    ) throws(Failure) -> Channel? {
        let bytes = try LocalPath.bytes(path)
        let descriptor = platform_stream_socket(AF_UNIX)
        guard descriptor >= 0 else { throw LocalPath.failure(path, SystemError(errno)) }
        // A local connection is made at once, or not.
        let outcome = systemCall {
            unsafe platform_local_connect(descriptor, bytes, UInt(bytes.count))
        }
        switch outcome {
        case .value: break
        case .wouldBlock, .failed(SystemError(ENOENT)), .failed(SystemError(ECONNREFUSED)):
            Glibc.close(descriptor)
            return nil
        case .failed(let error):
            Glibc.close(descriptor)
            throw LocalPath.failure(path, error)
        }
        do throws(SystemError) {
            return try Channel(descriptor: descriptor, loop: loop)
        } catch {
            throw LocalPath.failure(path, error)
        }
    }

    /// Whose program is at the other end of a local connection; `nil` if the kernel does not say.
    package var peerUser: UInt32? { peer?.user }

    /// The network namespace of the program that connected; `nil` if it cannot be seen, as from outside
    /// of the container that this process is in.
    package var peerNetwork: String? {
        peer.flatMap { Files.linkTarget("/proc/\($0.process)/ns/net") }
    }

    private var peer: (process: Int32, user: UInt32)? {
        guard !isClosed else { return nil }
        var (process, user) = (Int32(0), UInt32(0))
        return unsafe platform_peer(descriptor, &process, &user) == 0 ? (process, user) : nil
    }
}

/// What the network namespace of this process alone has until the next start of the system; `nil` if the
/// kernel does not say.
package var networkCookie: UInt64? {
    var cookie: UInt64 = 0
    return unsafe platform_network_cookie(&cookie) == 0 ? cookie : nil
}

/// The user whose programs this one may talk to.
package var ownUser: UInt32 { geteuid() }

private enum LocalPath {
    static func bytes(_ path: String) throws(Failure) -> [UInt8] {
        let bytes = [UInt8](path.utf8)
        guard bytes.count <= Int(platform_local_path_limit) else {
            throw Failure(
                "socket-path-too-long", party: .client,
                "the path of a socket has at most \(platform_local_path_limit) bytes: \(path)",
                hint: "choose a folder with a shorter path")
        }
        guard !bytes.isEmpty, !bytes.contains(0) else {
            throw failure(path, SystemError(EINVAL))
        }
        return bytes
    }

    static func failure(_ path: String, _ error: SystemError) -> Failure {
        Failure("connect-failed", party: .tool, "cannot connect to \(path): \(error)")
    }
}
