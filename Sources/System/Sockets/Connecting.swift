internal import Base
internal import CPlatform
internal import Glibc

extension Channel {
    /// Connects to an address; on the loop's thread only.
    ///
    /// - Parameter deadline: in milliseconds of `loop.now`.
    /// - Throws: `SystemError`; `timedOut` when the deadline passed.
    package static func connect(
        to address: SocketAddress, on loop: EventLoop, deadline: UInt64
    ) async throws(SystemError) -> Channel {
        let channel = try start(address, loop)
        channel.writeDeadline = deadline
        let outcome = await channel.waitWritable()
        channel.writeDeadline = .max
        return try channel.finishConnecting(outcome)
    }

    /// Connects a socket of another network namespace, and takes it over.
    package static func connect(
        _ descriptor: Int32, to address: SocketAddress, on loop: EventLoop, deadline: UInt64
    ) async throws(SystemError) -> Channel {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        let channel = try start(descriptor, address, loop)
        channel.writeDeadline = deadline
        let outcome = await channel.waitWritable()
        channel.writeDeadline = .max
        return try channel.finishConnecting(outcome)
    }

    private static func start(
        _ address: SocketAddress, _ loop: EventLoop
    ) throws(SystemError) -> Channel {
        let descriptor = platform_stream_socket(address.family)
        guard descriptor >= 0 else { throw SystemError(errno) }
        return try start(descriptor, address, loop)
    }

    private static func start(
        _ descriptor: Int32, _ address: SocketAddress, _ loop: EventLoop
    ) throws(SystemError) -> Channel {
        var (storage, length) = address.kernelForm
        let result = unsafe platform_connect(descriptor, &storage, length)
        if result != 0, errno != EINPROGRESS {
            let error = SystemError(errno)
            Glibc.close(descriptor)
            throw error
        }
        let channel = try Channel(descriptor: descriptor, loop: loop)
        channel.mustWaitToRead()
        if result != 0 { channel.mustWaitToWrite() }
        return channel
    }

    private func finishConnecting(_ outcome: WaitOutcome) throws(SystemError) -> Channel {
        switch outcome {
        case .ready:
            if let error = takeError() {
                close()
                throw error
            }
            setNoDelay()
            setUrgentInline()
            return self
        case .timedOut:
            close()
            throw .timedOut
        case .closed:
            close()
            throw SystemError(ECANCELED)
        }
    }

    /// Connects to the first address that answers: each next one is tried 250 ms after the one
    /// before, or as soon as that has failed (RFC 8305 §5).
    ///
    /// - Parameter addresses: in the order of preference; families are interleaved by the resolver.
    /// - Throws: the error of the last attempt.
    package static func connect(
        toFirstOf addresses: [SocketAddress], on loop: EventLoop, deadline: UInt64
    ) async throws(SystemError) -> (channel: Channel, address: SocketAddress) {
        guard let first = addresses.first else { throw .unreachable }
        if addresses.count == 1 {
            return (try await connect(to: first, on: loop, deadline: deadline), first)
        }
        let race = ConnectRace(loop: loop)
        return try await race.run(addresses.prefix(ConnectRace.attemptLimit), deadline: deadline)
    }
}

/// Attempts to connect that run side by side until one of them succeeds.
///
/// Not `Sendable`: lives in one task on one loop.
private final class ConnectRace {
    /// More addresses than this are not tried.
    static let attemptLimit = 8
    /// RFC 8305 §8, in milliseconds.
    static let attemptDelay: UInt64 = 250

    private let loop: EventLoop
    private var pending: [(channel: Channel, address: SocketAddress)] = []
    private var lastError = SystemError.unreachable

    init(loop: EventLoop) {
        self.loop = loop
    }

    func run(
        _ addresses: ArraySlice<SocketAddress>, deadline: UInt64
    ) async throws(SystemError) -> (channel: Channel, address: SocketAddress) {
        var untried = addresses
        while !untried.isEmpty || !pending.isEmpty {
            startNext(of: &untried)
            guard !pending.isEmpty else { break }
            let next = untried.isEmpty ? deadline : min(deadline, loop.now + Self.attemptDelay)
            if !pending.contains(where: { $0.channel.mayWriteNow }) {
                await Channel.waitForEvent(
                    on: pending.map(\.channel), loop: loop, deadline: next)
            }
            if pending.contains(where: { $0.channel.isClosed }) {
                // Nobody but a shutdown closes an attempt under us.
                lastError = SystemError(ECANCELED)
                break
            }
            if let winner = takeWinner() {
                for loser in pending { loser.channel.close() }
                return winner
            }
            if loop.now >= deadline {
                lastError = .timedOut
                break
            }
        }
        for loser in pending { loser.channel.close() }
        throw lastError
    }

    /// Starts an attempt; an address that the system refuses at once costs no delay.
    private func startNext(of untried: inout ArraySlice<SocketAddress>) {
        while let address = untried.popFirst() {
            do throws(SystemError) {
                pending.append((try Channel.startConnecting(address, loop), address))
                return
            } catch {
                lastError = error
            }
        }
    }

    private func takeWinner() -> (channel: Channel, address: SocketAddress)? {
        var winner: (channel: Channel, address: SocketAddress)?
        var rest: [(channel: Channel, address: SocketAddress)] = []
        for attempt in pending {
            guard winner == nil, attempt.channel.mayWriteNow else {
                rest.append(attempt)
                continue
            }
            if let error = attempt.channel.takeError() {
                lastError = error
                attempt.channel.close()
            } else {
                attempt.channel.setNoDelay()
                attempt.channel.setUrgentInline()
                winner = attempt
            }
        }
        pending = rest
        return winner
    }
}

extension Channel {
    fileprivate static func startConnecting(
        _ address: SocketAddress, _ loop: EventLoop
    ) throws(SystemError) -> Channel {
        try start(address, loop)
    }
}

extension Channel {
    /// Two ends of a local stream: what is sent into one comes out of the other.
    package static func pair(on loop: EventLoop) throws(SystemError) -> (Channel, Channel) {
        var descriptors: (Int32, Int32) = (-1, -1)
        guard unsafe platform_stream_pair(&descriptors.0, &descriptors.1) == 0 else {
            throw SystemError(errno)
        }
        let first: Channel
        do throws(SystemError) {
            first = try Channel(descriptor: descriptors.0, loop: loop)
        } catch {
            Glibc.close(descriptors.1)
            throw error
        }
        do throws(SystemError) {
            let second = try Channel(descriptor: descriptors.1, loop: loop)
            tie(first, second)
            return (first, second)
        } catch {
            first.close()
            throw error
        }
    }
}

extension Channel {
    /// Where the peer was on its way to when the system led it here: what the kernel's redirection
    /// noted, or for a transparent socket the address of our own end.
    ///
    /// - Parameter listening: where the listener is; who comes there by itself had no other way.
    package func originalDestination(listening: SocketAddress) -> SocketAddress? {
        guard !isClosed else { return nil }
        var storage = sockaddr_storage()
        if unsafe platform_original_destination(descriptor, &storage) == 0,
            let wanted = SocketAddress(storage), wanted != localAddress
        {
            return wanted
        }
        guard let local = localAddress else { return nil }
        let isOurs =
            local.port == listening.port
            && (local.isLoopback || local.host == listening.host
                || listening.isWildcard && local.isOfThisMachine)
        return isOurs ? nil : local
    }
}

extension SocketAddress {
    /// Whether this machine has the address, so that a socket can be bound to it.
    fileprivate var isOfThisMachine: Bool {
        let descriptor = platform_stream_socket(family)
        guard descriptor >= 0 else { return false }
        defer { Glibc.close(descriptor) }
        var (storage, length) = withPort(0).kernelForm
        return unsafe platform_bind(descriptor, &storage, length) == 0
    }
}
