import Foundation

/// A TCP connection to a port of 127.0.0.1 that sends and receives just what a test says.
///
/// What it waits for has a limit, so that no test hangs.
final class RawConnection: Sendable {
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "raw connection")

    /// - Parameter window: how many bytes the kernel takes before they are received, about; `nil`
    ///   leaves it to the kernel.
    init(port: UInt16, window: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Trouble("no socket: errno \(errno)") }
        if var window {
            // Before connecting, for the window's scale is agreed on then.
            unsafe setsockopt(
                descriptor, SOL_SOCKET, SO_RCVBUF, &window,
                socklen_t(MemoryLayout<Int32>.size))
        }
        var limit = timeval(tv_sec: 100, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Trouble("cannot connect: errno \(errno)") }
    }

    deinit {
        close(descriptor)
    }

    func send(_ text: String) async throws {
        try await send(Data(text.utf8))
    }

    /// Sends all of it, or as much as a peer takes that then closes.
    func send(_ bytes: Data) async throws {
        try await blocking { [descriptor] in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes {
                    unsafe Foundation.send(
                        descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count < 0, errno == EPIPE || errno == ECONNRESET { return }
                guard count > 0 else { throw Trouble("cannot send: errno \(errno)") }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Says that nothing more will be sent.
    func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Receives what is there, at least a byte and at most `limit`; nothing at the end.
    func receive(limit: Int = 65_536) async throws -> Data {
        try await blocking { [descriptor] in
            var bytes = Data(count: limit)
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
            }
            guard count >= 0 else { throw Trouble("cannot receive: errno \(errno)") }
            return bytes.prefix(count)
        }
    }

    /// Receives until the end.
    func receiveAll() async throws -> Data {
        var all = Data()
        while true {
            let piece = try await receive()
            if piece.isEmpty { return all }
            all += piece
        }
    }

    /// Receives until there are `count` bytes, which is all of them.
    func receive(exactly count: Int) async throws -> Data {
        var all = Data()
        while all.count < count {
            let piece = try await receive(limit: min(65_536, count - all.count))
            guard !piece.isEmpty else { throw Trouble("ended after \(all.count) of \(count)") }
            all += piece
        }
        return all
    }

    /// Receives through the empty line that ends a head, byte by byte.
    func receiveHead() async throws -> String {
        var head = Data()
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            head += try await receive(exactly: 1)
        }
        return String(decoding: head, as: UTF8.self)
    }

    /// Calls that block wait on a thread of their own: tests share few.
    private func blocking<Value: Sendable>(
        _ call: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: call)) }
        }
    }
}
