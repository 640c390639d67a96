package import Base
internal import CPlatform
internal import Glibc

/// A listening socket on one event loop.
///
/// Each loop has its own on the same port, so that the kernel spreads connections over the loops.
package final class Listener {
    private let channel: Channel
    /// With the port that the kernel chose, if port 0 was asked for.
    package let address: SocketAddress
    private var isFinishing = false
    /// Of those that were accepted since; clients may come faster than they are taken.
    private var lateCount = 0
    private static let lateLimit = 4096

    private init(channel: Channel, address: SocketAddress) {
        self.channel = channel
        self.address = address
    }

    /// Makes a bound and listening descriptor that never blocks; it may be made on any thread.
    ///
    /// Errors: `listen-failed`.
    package static func bind(
        _ address: SocketAddress, sharesPort: Bool, isTransparent: Bool = false
    ) throws(Failure) -> (descriptor: Int32, address: SocketAddress) {
        let descriptor = platform_stream_socket(address.family)
        guard descriptor >= 0 else { throw failure(address, SystemError(errno)) }
        do throws(SystemError) {
            try setOption(descriptor, SOL_SOCKET, SO_REUSEADDR)
            if sharesPort { try setOption(descriptor, SOL_SOCKET, SO_REUSEPORT) }
            if isTransparent {
                let isIPv6 = address.isIPv6
                try setOption(
                    descriptor, Int32(isIPv6 ? IPPROTO_IPV6 : IPPROTO_IP),
                    isIPv6 ? platform_transparent_v6 : platform_transparent)
            }
            if address.isIPv6 { try setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
            var (storage, length) = address.kernelForm
            guard unsafe platform_bind(descriptor, &storage, length) == 0 else {
                throw SystemError(errno)
            }
            guard listen(descriptor, backlog) == 0 else { throw SystemError(errno) }
            storage = sockaddr_storage()
            length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            guard unsafe platform_socket_name(descriptor, &storage, &length) == 0,
                let bound = SocketAddress(storage)
            else { throw SystemError(errno) }
            return (descriptor, bound)
        } catch {
            close(descriptor)
            throw failure(address, error)
        }
    }

    private static let backlog: Int32 = 4096

    private static func setOption(
        _ descriptor: Int32, _ level: Int32, _ name: Int32
    ) throws(SystemError) {
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        if unsafe setsockopt(descriptor, level, name, &on, size) != 0 { throw SystemError(errno) }
    }

    private static func failure(_ address: SocketAddress, _ error: SystemError) -> Failure {
        let hint: String? =
            switch error.number {
            case EADDRINUSE: "choose another port, or port 0 for a free one"
            case EPERM: "a transparent socket needs the capability CAP_NET_ADMIN"
            case EACCES: "ports below 1024 need privileges; choose a higher one"
            case EADDRNOTAVAIL: "the address must be one of this machine's"
            default: nil
            }
        return Failure(
            "listen-failed", party: .tool, "cannot listen on \(address): \(error)", hint: hint)
    }

    /// Binds once for each loop of a group; all get the same port.
    ///
    /// A first bind without sharing finds out whether somebody else has the port: a shared bind
    /// would take half of another program's connections without a word.
    ///
    /// Errors: `listen-failed`.
    package static func bindShared(
        _ address: SocketAddress, count: Int, isTransparent: Bool = false
    ) throws(Failure) -> (descriptors: [Int32], address: SocketAddress) {
        let first = try bind(address, sharesPort: false, isTransparent: isTransparent)
        guard count > 1 else { return ([first.descriptor], first.address) }
        close(first.descriptor)
        var descriptors: [Int32] = []
        do throws(Failure) {
            for _ in 0..<count {
                descriptors.append(
                    try bind(
                        first.address, sharesPort: true, isTransparent: isTransparent
                    ).descriptor)
            }
        } catch {
            for descriptor in descriptors { close(descriptor) }
            throw error
        }
        return (descriptors, first.address)
    }

    /// Takes a listening descriptor over; on the loop's thread only.
    package convenience init(
        descriptor: Int32, address: SocketAddress, loop: EventLoop
    ) throws(SystemError) {
        let channel = try Channel(descriptor: descriptor, loop: loop)
        self.init(channel: channel, address: address)
    }

    /// Waits for the next connection; `nil` once the listener is closed, or has finished.
    package func accept() async -> (channel: Channel, peer: SocketAddress)? {
        while lateCount < Self.lateLimit, let (accepted, storage) = await channel.acceptNext() {
            if isFinishing { lateCount += 1 }
            guard let peer = SocketAddress(storage) else {
                accepted.close()
                continue
            }
            // Not every kernel hands the option of the listening socket down.
            accepted.setUrgentInline()
            return (accepted, peer)
        }
        if isFinishing { close() }
        return nil
    }

    /// Takes the connections that wait in the kernel's queue, whose clients take them for made, and then
    /// closes.
    package func finish() {
        isFinishing = true
        channel.interrupt()
    }

    /// Stops accepting; connections that wait in the kernel's queue are reset.
    package func close() {
        channel.close()
    }

    private static func close(_ descriptor: Int32) {
        _ = Glibc.close(descriptor)
    }
}

extension Channel {
    /// Waits for the next connection of a listening socket; `nil` once that is closed, or none is there
    /// and it was interrupted.
    ///
    /// When the process has no descriptor left it waits a little and tries again, so that an accept
    /// queue that is full does not end the service.
    func acceptNext() async -> (channel: Channel, peer: sockaddr_storage)? {
        while !isClosed {
            if hasReceivedItsShare { _ = await waitReadable() }
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let outcome = systemCall { unsafe platform_accept(descriptor, &storage, &length) }
            switch outcome {
            case .value(let descriptor):
                noteTaken()
                do throws(SystemError) {
                    return (try Channel(descriptor: Int32(descriptor), loop: loop), storage)
                } catch {
                    await loop.sleep(milliseconds: Self.acceptDelay)
                }
            case .wouldBlock:
                if isInterrupted { return nil }
                mustWaitToRead()
                _ = await waitReadable()
            case .failed(let error):
                // ECONNABORTED and its like concern one connection; the others concern us all.
                if !error.isReset { await loop.sleep(milliseconds: Self.acceptDelay) }
            }
        }
        return nil
    }

    /// In milliseconds.
    private static let acceptDelay: UInt64 = 50
}
