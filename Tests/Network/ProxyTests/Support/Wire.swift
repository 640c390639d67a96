import Base
import Glibc
import Sockets
import TLS

/// A test's own end of a connection went wrong.
struct WireFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// One end of a TCP connection as the tests hold it: blocking, bounded in time, and with nothing of
/// the product's streams in it.
///
/// `@unchecked Sendable`: one thread uses it at a time.
final class Wire: @unchecked Sendable {
    /// How the peer ended its direction.
    enum End: String, Equatable {
        /// FIN on a plain connection, close_notify with TLS.
        case inOrder
        /// FIN with TLS and without close_notify.
        case cutOff
        case reset
    }

    private let descriptor: Int32
    private(set) var session: TLSSession?
    private var held: [UInt8] = []
    private(set) var end: End?
    private var isOpen = true

    /// In seconds: how long a read or a write may take.
    static let patience = 100

    init(owning descriptor: Int32) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        setOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    deinit { close() }

    /// - Parameter receiveBuffer: of the kernel, in bytes, so that little is in flight.
    static func connect(to address: SocketAddress, receiveBuffer: Int32? = nil) throws -> Wire {
        let family = address.isIPv6 ? AF_INET6 : AF_INET
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw WireFailure("no socket: \(errno)") }
        let wire = Wire(owning: descriptor)
        if let receiveBuffer { wire.setOption(SOL_SOCKET, SO_RCVBUF, receiveBuffer) }
        guard unsafe address.withKernelForm({ unsafe Glibc.connect(descriptor, $0, $1) }) == 0
        else {
            throw WireFailure("cannot connect to \(address): \(errno)")
        }
        return wire
    }

    func setOption(_ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        unsafe setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    // MARK: Reading

    /// The next bytes, empty at the peer's end.
    func read() throws -> [UInt8] {
        if !held.isEmpty {
            defer { held = [] }
            return held
        }
        return try readMore()
    }

    /// The next bytes behind those that are held.
    private func readMore() throws -> [UInt8] {
        while end == nil {
            guard let session else { return try receive() }
            if let bytes = try decrypt(session) { return bytes }
        }
        return []
    }

    /// Reads `count` bytes and no more.
    func read(_ count: Int) throws -> [UInt8] {
        while held.count < count { try gather("\(count) bytes") }
        defer { held.removeFirst(count) }
        return Array(held.prefix(count))
    }

    /// Reads through the first `mark`.
    func read(through mark: String) throws -> [UInt8] {
        let mark = [UInt8](mark.utf8)
        var looked = 0
        while true {
            if let place = held[looked...].place(of: mark) {
                return try read(place + mark.count)
            }
            looked = max(0, held.count - mark.count + 1)
            try gather("'\(mark.text)'")
        }
    }

    /// Whether something comes before the peer's end.
    func hasMore() throws -> Bool {
        if held.isEmpty { held = try read() }
        return !held.isEmpty
    }

    func readToEnd() throws -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let bytes = try read()
            if bytes.isEmpty { return all }
            all += bytes
        }
    }

    private func gather(_ wanted: String) throws {
        let bytes = try readMore()
        held += bytes
        if bytes.isEmpty {
            throw WireFailure(
                "ended (\(end?.rawValue ?? "?")) after '\(held.prefix(200).text)' before \(wanted)")
        }
    }

    /// Bytes from the socket as they are; empty at the end, which is noted.
    func receive() throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
            if count > 0 { return Array(bytes.prefix(count)) }
            if count == 0 {
                end = session == nil ? .inOrder : .cutOff
                return []
            }
            switch errno {
            case EINTR: continue
            case ECONNRESET:
                end = .reset
                return []
            case EAGAIN: throw WireFailure("nothing came for \(Self.patience) s")
            case let number: throw WireFailure("cannot read: \(number)")
            }
        }
    }

    // MARK: Writing

    func send(_ text: String) throws { try send([UInt8](text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        guard let session else { return try transmit(bytes) }
        let plain = ByteBuffer(capacity: max(1, bytes.count))
        plain.append(bytes)
        while !plain.isEmpty {
            session.outgoing = ByteBuffer(capacity: 72 * 1024)
            if case .failed(let failure) = session.write(plain) {
                throw WireFailure("cannot encrypt: \(failure.detail)")
            }
            try transmitOutgoing(session)
        }
    }

    /// Sends bytes past TLS, of which the last is urgent (RFC 9293 §3.8.5).
    func transmitUrgent(_ bytes: [UInt8]) throws {
        let flags = Int32(MSG_OOB) | Int32(MSG_NOSIGNAL)
        guard unsafe Glibc.send(descriptor, bytes, bytes.count, flags) == bytes.count else {
            throw WireFailure("cannot send: \(errno)")
        }
    }

    /// Sends bytes past TLS.
    func transmit(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw WireFailure("cannot send: \(errno)")
            }
            sent += count
        }
    }

    /// Sends as much as the peer takes until it has taken nothing for `milliseconds`.
    ///
    /// - Returns: how many bytes it took.
    func fill(_ bytes: [UInt8], upTo limit: Int, patience milliseconds: Int32) throws -> Int {
        var taken = 0
        while taken < limit {
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let ready = unsafe poll(&entry, 1, milliseconds)
            if ready == 0 { return taken }
            let count = unsafe Glibc.send(
                descriptor, bytes, min(bytes.count, limit - taken),
                Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            if count < 0, errno != EAGAIN, errno != EINTR {
                throw WireFailure("cannot send: \(errno)")
            }
            taken += max(0, count)
        }
        return taken
    }

    // MARK: Ending

    /// Ends this direction in order; with TLS, close_notify comes first.
    func finish() throws {
        if let session {
            session.outgoing = ByteBuffer(capacity: 16384)
            session.close()
            try transmitOutgoing(session)
        }
        hangUp()
    }

    /// Sends bytes with what follows them in one segment, and no FIN.
    ///
    /// - Parameter rest: past TLS; `nil` for close_notify.
    func sendLast(_ bytes: [UInt8], then rest: [UInt8]?) throws {
        guard let session else { throw WireFailure("no TLS") }
        let plain = ByteBuffer(capacity: bytes.count)
        plain.append(bytes)
        session.outgoing = ByteBuffer(capacity: 72 * 1024)
        _ = session.write(plain)
        if let rest { session.outgoing?.append(rest) } else { session.close() }
        try transmitOutgoing(session)
    }

    /// Ends this direction by FIN, past TLS.
    func hangUp() {
        if isOpen { shutdown(descriptor, Int32(SHUT_WR)) }
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        Glibc.close(descriptor)
    }

    /// Closes so that the peer is told by RST.
    func reset() {
        guard isOpen else { return }
        var option = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    // MARK: TLS

    /// Does the handshake of `session` to its end.
    func secure(_ session: TLSSession) throws {
        self.session = session
        if !held.isEmpty {
            session.feed(held)
            held = []
        }
        while true {
            let progress = session.handshakeStep()
            try transmitOutgoing(session)
            switch progress {
            case .done: return
            case .wantWrite: continue
            case .failed(let failure): throw WireFailure("handshake: \(failure.detail)")
            case .wantRead:
                let bytes = try receive()
                if bytes.isEmpty {
                    throw WireFailure("the peer ended the handshake (\(end?.rawValue ?? "?"))")
                }
                session.feed(bytes)
            }
        }
    }

    /// Sends the first flight of `session` and returns the first bytes of the answer.
    func beginSecuring(_ session: TLSSession) throws -> [UInt8] {
        _ = session.handshakeStep()
        try transmitOutgoing(session)
        return try receive()
    }

    private func transmitOutgoing(_ session: TLSSession) throws {
        guard let outgoing = session.outgoing else { return }
        session.outgoing = nil
        try transmit(outgoing.copy)
    }

    /// Plaintext, `nil` if more was needed and has been received.
    private func decrypt(_ session: TLSSession) throws -> [UInt8]? {
        let plain = ByteBuffer(capacity: 32768)
        session.outgoing = ByteBuffer(capacity: 72 * 1024)
        let outcome = session.read(into: plain)
        try transmitOutgoing(session)
        switch outcome {
        case .bytes: return plain.copy
        case .ended: end = .inOrder
        case .wantWrite: break
        case .failed(let failure): throw WireFailure("cannot decrypt: \(failure.detail)")
        case .wantRead:
            let bytes = try receive()
            if !bytes.isEmpty { session.feed(bytes) }
        }
        return nil
    }
}

extension TLSSession {
    fileprivate func handshakeStep() -> TLSProgress {
        outgoing = ByteBuffer(capacity: 72 * 1024)
        return handshake()
    }

    fileprivate func feed(_ bytes: [UInt8]) {
        let waiting = incoming?.copy ?? []
        let buffer = ByteBuffer(capacity: max(1, waiting.count + bytes.count))
        buffer.append(waiting)
        buffer.append(bytes)
        incoming = buffer
    }
}

extension SocketAddress {
    func withKernelForm<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        if isIPv6 {
            var six = sockaddr_in6()
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &six.sin6_addr) { unsafe $0.copyBytes(from: address) }
            return unsafe Self.lend(six, body)
        }
        var four = sockaddr_in()
        four.sin_family = sa_family_t(AF_INET)
        four.sin_port = port.bigEndian
        unsafe withUnsafeMutableBytes(of: &four.sin_addr) { unsafe $0.copyBytes(from: address) }
        return unsafe Self.lend(four, body)
    }

    private static func lend<Form, Result>(
        _ form: Form, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        unsafe withUnsafePointer(to: form) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<Form>.size))
            }
        }
    }
}

extension Wire {
    /// Sends bytes that the peer may no longer want.
    func sendIfTaken(_ bytes: [UInt8]) throws {
        do {
            try send(bytes)
        } catch is WireFailure {
            // What the peer has answered is still to be read.
        }
    }
}
