import Base
import Glibc
import Synchronization
import Testing

@testable import Sockets

/// Runs `body` on an event loop of its own thread, and stops the loop after it.
@discardableResult
func withLoop<Result: Sendable>(
    _ body: @escaping @Sendable (EventLoop) async throws -> Result
) async throws -> Result {
    let loop = try EventLoop(index: 0)
    startThread(named: "test loop") { loop.run() }
    defer { loop.stop() }
    return try await Task(executorPreference: loop) {
        defer { loop.closeAllChannels() }
        return try await body(loop)
    }.value
}

let loopback = SocketAddress(address: [127, 0, 0, 1], port: 0)

/// Two ends of a connection in this process.
func socketPair(_ loop: EventLoop) throws -> (Channel, Channel) {
    var ends: [Int32] = [0, 0]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
    let status = unsafe socketpair(AF_UNIX, kind, 0, &ends)
    guard status == 0 else { throw SystemError(errno) }
    return (
        try Channel(descriptor: ends[0], loop: loop), try Channel(descriptor: ends[1], loop: loop)
    )
}

/// The two ends of a TCP connection over the loopback address.
func connectedPair(_ loop: EventLoop) async throws -> (client: Channel, server: Channel) {
    let bound = try Listener.bind(loopback, sharesPort: false)
    let listener = try Listener(descriptor: bound.descriptor, address: bound.address, loop: loop)
    defer { listener.close() }
    let client = try await Channel.connect(to: bound.address, on: loop, deadline: .max)
    guard let (server, _) = await listener.accept() else { throw SystemError(ECANCELED) }
    return (client, server)
}

/// A loopback port that is taken, so that nobody else gets it, and refuses connections.
final class RefusingPort {
    let address: SocketAddress
    let descriptor: Int32

    init() throws {
        (descriptor, address) = try takePort()
    }

    deinit { close(descriptor) }
}

/// A loopback port that takes no more connections and answers nothing: its queue is full.
final class SilentPort {
    let address: SocketAddress
    private var descriptors: [Int32] = []

    init() throws {
        let listener: Int32
        (listener, address) = try takePort()
        descriptors = [listener]
        guard listen(listener, 0) == 0 else { throw SystemError(errno) }
        // The kernel takes one more than the backlog says; what comes then is dropped.
        for _ in 0..<4 {
            let client = socket(
                AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            descriptors.append(client)
            unsafe withKernelForm(of: address) { _ = unsafe connect(client, $0, $1) }
        }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}

/// Binds a port that the system chooses, without listening on it.
private func takePort() throws -> (descriptor: Int32, address: SocketAddress) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var status: Int32 = -1
    unsafe withKernelForm(of: loopback) { status = unsafe bind(descriptor, $0, $1) }
    guard status == 0 else { throw SystemError(errno) }
    var (storage, length) = loopback.kernelForm
    unsafe withUnsafeMutablePointer(to: &storage) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            _ = unsafe getsockname(descriptor, address, &length)
        }
    }
    guard let bound = SocketAddress(storage) else { throw SystemError(EINVAL) }
    return (descriptor, bound)
}

private func withKernelForm(
    of address: SocketAddress, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Void
) {
    var (storage, length) = address.kernelForm
    unsafe withUnsafePointer(to: &storage) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
    }
}

extension Channel {
    /// Sends bytes that surely fit into the kernel's buffer.
    func sendNow(_ bytes: [UInt8]) {
        let buffer = ByteBuffer(capacity: bytes.count)
        buffer.append(bytes)
        _ = send(buffer)
    }

    /// What is there, once something is.
    func receiveSome() async -> [UInt8] {
        let buffer = ByteBuffer(capacity: 1 << 16)
        while true {
            switch receive(into: buffer) {
            case .value: return buffer.copy
            case .wouldBlock:
                guard await waitReadable() == .ready else { return [] }
            case .failed: return []
            }
        }
    }
}

/// Something that several tasks note, in order.
final class Notes: Sendable {
    private let lines = Mutex<[String]>([])

    func add(_ line: String) { lines.withLock { $0.append(line) } }

    var all: [String] { lines.withLock { $0 } }
}

/// Lets this process have so many descriptors at most; for a process of a test's own only.
func limitDescriptors(_ count: UInt) {
    var limit = rlimit(rlim_cur: count, rlim_max: count)
    let status = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    precondition(status == 0, "the limit cannot be set")
}

/// Lets the loop go on until something holds; the test fails if it never does.
func until(_ loop: EventLoop, _ holds: () -> Bool) async {
    for _ in 0..<20_000 where !holds() { await loop.sleep(milliseconds: 1) }
    #expect(holds())
}
