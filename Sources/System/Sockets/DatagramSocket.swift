internal import CPlatform
internal import Glibc

/// A bound UDP socket that is read by whoever waits for it with `Waiting`.
///
/// Owns its descriptor.
package final class DatagramSocket: Sendable {
    package let descriptor: Int32

    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Answers the datagrams that are there, without waiting.
    ///
    /// - Parameter answer: what is sent back; `nil` for nothing.
    package func answerAll(_ answer: ([UInt8]) -> [UInt8]?) {
        var bytes = [UInt8](repeating: 0, count: 65_535)
        for _ in 0..<Self.roundLimit {
            var sender = sockaddr_storage()
            var length: socklen_t = 0
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe platform_receive_from(
                    descriptor, $0.baseAddress, UInt($0.count), &sender, &length)
            }
            guard count >= 0 else { return }
            guard let reply = answer(Array(bytes[..<count])) else { continue }
            _ = unsafe platform_send_to(descriptor, reply, UInt(reply.count), &sender, length)
        }
    }

    private static let roundLimit = 256
}

/// Waits for descriptors of other kinds than the loops serve; blocks its thread.
package enum Waiting {
    /// - Parameter milliseconds: when it is given up.
    /// - Returns: those that something can be read from.
    package static func readable(_ descriptors: [Int32], milliseconds: Int32) -> [Int32] {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard unsafe poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return [] }
        return entries.filter { $0.revents != 0 }.map(\.fd)
    }
}

/// A listener whose connections each bring one message and take one, on a thread that blocks.
package final class MessageListener: Sendable {
    package let descriptor: Int32

    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Serves one connection that waits.
    ///
    /// - Parameter answer: gets what has come so far, and returns what is sent back; `nil` while
    ///   more is needed.
    package func serveOne(_ answer: ([UInt8]) -> [UInt8]?) {
        var sender = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let connection = unsafe platform_accept(descriptor, &sender, &length)
        guard connection >= 0 else { return }
        defer { Glibc.close(connection) }
        var message: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        while message.count < Self.byteLimit {
            guard !Waiting.readable([connection], milliseconds: Self.patience).isEmpty else {
                return
            }
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe recv(connection, $0.baseAddress, $0.count, 0)
            }
            guard count > 0 else { return }
            message += bytes[..<count]
            if let reply = answer(message) {
                _ = unsafe send(connection, reply, reply.count, platform_no_signal)
                return
            }
        }
    }

    /// In bytes: a length of two bytes and what it can tell.
    private static let byteLimit = 65_537
    /// In milliseconds: one client that stalls keeps the others.
    private static let patience: Int32 = 500
}
