import Base
import Sockets
import Synchronization
import Testing

@testable import Transfer

/// A daemon over a laboratory's service, reached over pairs of sockets.
struct DaemonBench {
    let bench: Laboratory.Bench
    let daemon: TransferDaemon
    var loop: EventLoop { bench.service.loop }

    /// A client's end, before it has said or heard anything.
    func channel() throws -> Channel {
        let (ours, theirs) = try Channel.pair(on: loop)
        daemon.admit(theirs)
        return ours
    }

    func connect() async throws -> DaemonConnection {
        try #require(try await DaemonConnection.take(try channel(), until: .max))
    }

    func plan(_ path: String, to file: String = "/files/download") -> TransferPlan {
        TransferPlan(.download, bench.origin + path, file: file)
    }
}

extension DaemonLimits {
    /// Of a daemon that stays.
    static var patient: DaemonLimits {
        var limits = DaemonLimits()
        limits.idleTime = .max
        return limits
    }
}

extension Laboratory {
    /// Runs `body` with a daemon, which is stopped after it.
    func serve<Result: Sendable>(
        _ limits: DaemonLimits = .patient, on socket: String? = nil, peer: UInt32? = ownUser,
        _ body: @escaping @Sendable (DaemonBench) async throws -> Result
    ) async throws -> Result {
        try await run { bench in
            let daemon = TransferDaemon(
                bench.service, limits, processID: 4711, userOfPeer: { _ in peer })
            let listener = try socket.map { path in
                try LocalListener(path, on: bench.service.loop)
            }
            let served = Task(executorPreference: bench.service.loop) {
                await daemon.run(listener)
            }
            do {
                let result = try await body(DaemonBench(bench: bench, daemon: daemon))
                daemon.stop()
                await served.value
                return result
            } catch {
                daemon.stop()
                await served.value
                throw error
            }
        }
    }
}

extension DaemonStream {
    /// Sends what the kernel takes at once.
    func push(_ bytes: [UInt8]) {
        let buffer = ByteBuffer(capacity: max(1, bytes.count))
        buffer.append(bytes)
        _ = channel.send(buffer)
    }

    /// What the daemon says until it ends the connection.
    func replies() async -> [DaemonReply] {
        var replies: [DaemonReply] = []
        do throws(Failure) {
            while let line = try await next() {
                if let reply = DaemonReply(line: line) { replies.append(reply) }
            }
        } catch {
            // It was broken off.
        }
        return replies
    }
}
