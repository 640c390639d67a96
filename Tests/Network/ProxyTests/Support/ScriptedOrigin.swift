import Base
import Dispatch
import Glibc
import Sockets
import Synchronization
import TLS

/// An origin that does on each connection what a test tells it to, on a thread of its own.
final class ScriptedOrigin: Sendable {
    enum Kind: Sendable {
        case plain
        /// - `name`: what its certificate is for.
        case tls(name: String, authority: CertificateAuthority, versions: TLSVersions)
        /// With TLS, and nothing but HTTP/2 to choose.
        case http2

        static let tls = Kind.tls(name: "localhost")

        static func tls(
            name: String, by authority: CertificateAuthority = TestAuthority.origin,
            versions: TLSVersions = .modern
        ) -> Kind {
            .tls(name: name, authority: authority, versions: versions)
        }
    }

    typealias Script = @Sendable (_ wire: Wire, _ number: Int) throws -> Void

    let address: SocketAddress
    private let descriptor: Int32
    private let state = Mutex(State())
    private let idle = DispatchSemaphore(value: 0)

    private struct State {
        var accepted = 0
        var running = 0
        var isListening = true
        var failures: [String] = []
    }

    /// - Parameter script: gets each connection, and which one it is, from 0; the connection is
    ///   closed when it returns.
    init(_ kind: Kind = .plain, on host: String = "127.0.0.1", _ script: @escaping Script) throws {
        guard let wanted = SocketAddress(literal: host, port: 0) else {
            throw WireFailure("no address: \(host)")
        }
        let family = wanted.isIPv6 ? AF_INET6 : AF_INET
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        let bound = unsafe wanted.withKernelForm { [descriptor] in unsafe bind(descriptor, $0, $1) }
        guard bound == 0, listen(descriptor, 64) == 0 else {
            throw WireFailure("cannot listen on \(host): \(errno)")
        }
        address = wanted.withPort(Self.port(of: descriptor, isIPv6: wanted.isIPv6))
        startThread(named: "origin") { self.accept(kind, script) }
    }

    var port: UInt16 { address.port }
    /// As a URL has it.
    var authority: String { address.description }
    var acceptedCount: Int { state.withLock { $0.accepted } }
    var failures: [String] { state.withLock { $0.failures } }

    /// Accepts no more, and waits until the scripts have ended.
    func stop() {
        // A number that was closed may be another test's connection by now.
        state.withLock { [descriptor] state in
            if state.isListening { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
        let deadline = DispatchTime.now() + .seconds(Wire.patience + 1)
        while state.withLock({ $0.running > 0 }) {
            if idle.wait(timeout: deadline) != .success {
                state.withLock { $0.failures.append("a script did not end") }
                return
            }
        }
    }

    private static func port(of descriptor: Int32, isIPv6: Bool) -> UInt16 {
        var storage = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            _ = unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        // The port stands at the same place in both families.
        return UInt16(bigEndian: storage.sin6_port)
    }

    private func accept(_ kind: Kind, _ script: @escaping Script) {
        while true {
            let accepted = Glibc.accept(descriptor, nil, nil)
            if accepted < 0 {
                if errno == EINTR { continue }
                state.withLock { [descriptor] state in
                    state.isListening = false
                    close(descriptor)
                }
                return
            }
            let wire = Wire(owning: accepted)
            let number = state.withLock { state in
                state.running += 1
                state.accepted += 1
                return state.accepted - 1
            }
            startThread(named: "script") { self.run(wire, number, kind, script) }
        }
    }

    private func run(_ wire: Wire, _ number: Int, _ kind: Kind, _ script: Script) {
        do {
            if case .tls(let name, let authority, let versions) = kind {
                let context = TLSServerContext(
                    authority: authority, versions: versions,
                    ticketKey: [UInt8](repeating: 1, count: 80))
                try wire.secure(context.makeSession(for: name, protocols: ["http/1.1"]))
            }
            if case .http2 = kind {
                let context = TLSServerContext(
                    authority: TestAuthority.origin, versions: .modern,
                    ticketKey: [UInt8](repeating: 1, count: 80))
                try wire.secure(context.makeSession(for: "localhost", protocols: ["h2"]))
            }
            try script(wire, number)
        } catch {
            state.withLock { $0.failures.append("connection \(number): \(error)") }
        }
        wire.close()
        state.withLock { $0.running -= 1 }
        idle.signal()
    }
}

/// A port of this machine at which nobody listens, for as long as the value lives.
final class ClosedPort {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        // Bound and not listening: a connection is refused, and nobody else can get the port.
        let origin = try ScriptedOrigin { _, _ in }
        port = origin.port
        origin.stop()
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var on: Int32 = 1
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        _ = unsafe origin.address.withKernelForm { [descriptor] in unsafe bind(descriptor, $0, $1) }
    }

    deinit { close(descriptor) }
}
