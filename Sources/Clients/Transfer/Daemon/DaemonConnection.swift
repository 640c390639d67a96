package import Base
package import Sockets

/// A client's end of the daemon's socket. Requests are asked one after the other.
///
/// `@unchecked Sendable`: used on its loop.
package final class DaemonConnection: @unchecked Sendable {
    private let stream: DaemonStream
    /// The daemon's.
    package let processID: Int64
    /// A digest of the variables that name the daemon's proxies; `nil` where others do.
    package let proxies: String?

    private init(_ stream: DaemonStream, processID: Int64, proxies: String?) {
        self.stream = stream
        self.processID = processID
        self.proxies = proxies
    }

    /// Connects to the daemon of a folder, which is started if there is none.
    ///
    /// - Parameters:
    ///   - patience: in milliseconds; how long it may take until the daemon answers.
    ///   - start: starts the daemon; `nil` if none is to be started.
    ///   - userOfPeer: tells whose program a connection leads to.
    ///
    /// Errors: `daemon-absent`, `daemon-not-own`, `daemon-not-started`, `daemon-unintelligible`, `not-allowed`,
    /// `too-many-clients`, `connect-failed`, `socket-path-too-long`, those of `start`.
    package static func open(
        _ folder: DaemonFolder, on loop: EventLoop, patience: UInt64 = 10_000,
        starting start: (() throws(Failure) -> DaemonProcess)? = nil,
        userOfPeer: (Channel) -> UInt32? = { $0.peerUser }
    ) async throws(Failure) -> DaemonConnection {
        var due = loop.now + min(patience, Self.patienceLimit)
        var process: DaemonProcess?
        var hasEnded = false
        while true {
            if let channel = try Channel.connect(toPath: folder.socket, on: loop) {
                // It is told logins and fields, and says where files are.
                guard userOfPeer(channel) == ownUser else {
                    channel.close()
                    throw notOwn(folder)
                }
                if let connection = try await take(channel, until: due) {
                    return connection
                }
            }
            guard let start else {
                throw Failure(
                    "daemon-absent", party: .tool,
                    "no daemon serves the transfers in \(folder.path)")
            }
            let present: DaemonProcess
            if let process { present = process } else { present = try start() }
            process = present
            if !hasEnded, present.hasEnded() {
                // It may have met another one, which was not ready yet.
                hasEnded = true
                due = min(due, loop.now + Self.graceTime)
            }
            guard loop.now < due else { throw notStarted(folder, present) }
            await loop.sleep(milliseconds: Self.retryTime)
        }
    }

    private static func notOwn(_ folder: DaemonFolder) -> Failure {
        Failure(
            "daemon-not-own", party: .client,
            "the daemon of the transfers in \(folder.path) is another user's",
            hint: "name a folder of your own with --folder")
    }

    private static func notStarted(_ folder: DaemonFolder, _ process: DaemonProcess) -> Failure {
        let words = process.lastWords().map { ": \($0)" } ?? ""
        return Failure(
            "daemon-not-started", party: .tool, "the daemon of the transfers did not start\(words)",
            hint: "see \(folder.log)")
    }

    /// Takes a connection over.
    ///
    /// - Returns: `nil` if the daemon ends just now.
    package static func take(
        _ channel: Channel, until due: UInt64
    ) async throws(Failure) -> DaemonConnection? {
        let stream = DaemonStream(channel)
        channel.readDeadline = due
        let line: [UInt8]?
        do throws(Failure) {
            line = try await stream.next()
        } catch {
            channel.close()
            return nil
        }
        channel.readDeadline = .max
        guard let line else {
            channel.close()
            return nil
        }
        switch DaemonReply(line: line) {
        case .ready(let processID, let proxies):
            return DaemonConnection(stream, processID: processID, proxies: proxies)
        case .failed(let failure):
            channel.close()
            guard failure.code != "daemon-stopping" else { return nil }
            throw failure
        case .task, .event, .done, nil:
            channel.close()
            throw unintelligible
        }
    }

    /// Asks, and takes what comes until all is said.
    ///
    /// - Parameter each: may stop by an error; the connection is of no use then.
    ///
    /// Errors: those of the daemon and of `each`, `connection-lost`, `daemon-unintelligible`.
    package func ask(
        _ request: DaemonRequest, each: (DaemonReply) async throws(Failure) -> Void
    ) async throws(Failure) {
        let line = request.line
        guard line.count <= DaemonLines.lineLimit else {
            throw Failure(
                "request-malformed", party: .client,
                "what is asked for is longer than a daemon reads"
            )
        }
        try await stream.send(line, patience: .max)
        while let line = try await stream.next() {
            switch DaemonReply(line: line) {
            case .done: return
            case .failed(let failure): throw failure
            case .task(let task): try await each(.task(task))
            case .event(let event): try await each(.event(event))
            case .ready, nil: throw Self.unintelligible
            }
        }
        throw Failure(
            "connection-lost", party: .tool, "the daemon of the transfers has ended",
            hint: "give the command again: what it began goes on where it was")
    }

    /// The tasks that a request is answered with.
    package func tasks(_ request: DaemonRequest) async throws(Failure) -> [TransferTask] {
        var tasks: [TransferTask] = []
        try await ask(request) { reply in
            if case .task(let task) = reply { tasks.append(task) }
        }
        return tasks
    }

    package func close() { stream.channel.close() }

    /// Lets who waits for an answer go on with `connection-lost`. From any thread.
    package func interrupt() {
        stream.channel.loop.execute { self.stream.channel.interrupt() }
    }

    private static let unintelligible = Failure(
        "daemon-unintelligible", party: .tool,
        "the daemon of the transfers is of another version",
        hint: "stop it: sallyport transfer stop")

    /// In milliseconds.
    private static let retryTime: UInt64 = 20
    private static let graceTime: UInt64 = 1000
    private static let patienceLimit: UInt64 = 600_000
}

/// A daemon that was started.
package struct DaemonProcess: Sendable {
    package let hasEnded: @Sendable () -> Bool
    /// What it said last.
    package let lastWords: @Sendable () -> String?

    package init(
        hasEnded: @escaping @Sendable () -> Bool, lastWords: @escaping @Sendable () -> String?
    ) {
        self.hasEnded = hasEnded
        self.lastWords = lastWords
    }
}
