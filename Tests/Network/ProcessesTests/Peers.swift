import CPlatform
import Foundation
import ProcessStart
import Sockets
import Testing

/// A program that connects, and stays.
final class Client {
    private let process = Process()

    init(_ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let script = """
            import socket, sys
            kept = []
            for _ in range(int(sys.argv[3])):
                s = socket.create_connection((sys.argv[1], int(sys.argv[2])))
                kept.append(s)
            kept[0].recv(1)
            """
        process.arguments = ["python3", "-c", script] + arguments
        try ProcessStart.alone { try process.run() }
    }

    var id: Int32 { process.processIdentifier }

    func end() {
        kill(id, SIGKILL)
        process.waitUntilExit()
    }
}

/// A listener of the tests.
final class Server {
    private let descriptor: Int32
    let port: UInt16

    init(_ host: String) throws {
        let address = try #require(SocketAddress(literal: host, port: 0))
        if host == "::" {
            // One socket for both.
            let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
            var six = sockaddr_in6()
            six.sin6_family = sa_family_t(AF_INET6)
            unsafe withUnsafePointer(to: &six) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
            listen(descriptor, 1000)
            self.descriptor = descriptor
            port = try #require(SocketAddress.originalDestination(of: descriptor)).port
        } else {
            let bound = try Listener.bind(address, sharesPort: false)
            descriptor = bound.descriptor
            port = bound.address.port
        }
    }

    deinit {
        close(descriptor)
    }

    func accept() throws -> Connection {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        try #require(unsafe poll(&waiting, 1, 20_000) == 1)
        let accepted = Glibc.accept(descriptor, nil, nil)
        try #require(accepted >= 0)
        return try Connection(accepted)
    }
}

/// An accepted connection.
final class Connection {
    private let descriptor: Int32
    let peer: SocketAddress
    let local: SocketAddress

    init(_ descriptor: Int32) throws {
        self.descriptor = descriptor
        local = try #require(SocketAddress.originalDestination(of: descriptor))
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        unsafe withUnsafeMutablePointer(to: &storage) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = unsafe getpeername(descriptor, $0, &length)
            }
        }
        let bytes = unsafe withUnsafeBytes(of: &storage) { unsafe [UInt8]($0) }
        let port = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        peer = SocketAddress(
            address: Array(
                storage.ss_family == sa_family_t(AF_INET) ? bytes[4..<8] : bytes[8..<24]),
            port: port)
    }

    deinit {
        close(descriptor)
    }
}
