import Foundation
import Sockets
import Testing

/// Waits for one of the descriptors to be readable.
private func readable(_ descriptors: [Int32]) throws -> Int32 {
    var waiting = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    try #require(unsafe poll(&waiting, nfds_t(waiting.count), 20_000) > 0)
    return try #require(waiting.first { $0.revents != 0 }).fd
}

func accept(_ listeners: [Int32]) throws -> Int32 {
    let connection = accept(try readable(listeners), nil, nil)
    try #require(connection >= 0)
    return connection
}

/// Waits for bytes, and returns what comes.
func receive(_ socket: Int32) -> String {
    var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    unsafe poll(&waiting, 1, 20_000)
    var bytes = [UInt8](repeating: 0, count: 1000)
    let count = unsafe recv(socket, &bytes, bytes.count, 0)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
}

func send(_ socket: Int32, _ text: String) {
    unsafe send(socket, text, text.utf8.count, 0)
}

/// Connects a socket that does not wait; returns whether it worked.
func connect(_ socket: Int32, _ address: SocketAddress) -> Bool {
    var four = sockaddr_in()
    four.sin_family = sa_family_t(AF_INET)
    four.sin_port = address.port.bigEndian
    four.sin_addr.s_addr = unsafe inet_addr(address.host)
    unsafe withUnsafePointer(to: &four) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            _ = unsafe Foundation.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    var waiting = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
    unsafe poll(&waiting, 1, 20_000)
    return waiting.revents & Int16(POLLERR | POLLHUP) == 0
}

func receiveDatagram(
    _ sockets: [Int32]
) throws -> (socket: Int32, text: String, client: (sockaddr_storage, socklen_t)) {
    let socket = try readable(sockets)
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    var bytes = [UInt8](repeating: 0, count: 1000)
    let count = unsafe withUnsafeMutablePointer(to: &storage) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe recvfrom(socket, &bytes, 1000, 0, $0, &length)
        }
    }
    let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    return (socket, text, (storage, length))
}

func answer(_ socket: Int32, _ text: String, to client: (sockaddr_storage, socklen_t)) {
    var storage = client.0
    unsafe withUnsafePointer(to: &storage) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            _ = unsafe sendto(socket, text, text.utf8.count, 0, $0, client.1)
        }
    }
}
