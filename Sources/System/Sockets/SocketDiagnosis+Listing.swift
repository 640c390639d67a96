internal import CPlatform
internal import Glibc
internal import Synchronization

extension SocketDiagnosis {
    /// A TCP socket with its two ends.
    package struct Connection: Sendable, Equatable {
        package let local: SocketAddress
        package let remote: SocketAddress
        /// By which `/proc/PID/fd` names it; 0 if no process has it any more.
        package let inode: UInt64
        package let user: UInt32
    }

    /// Which sockets are listed, by their states in the kernel (net/tcp_states.h).
    package enum Kind: UInt32, Sendable {
        /// From the first packet of a client until its socket is gone.
        case connected = 0b1011_0011_0110
        /// Those whose program has closed them, kept for a minute so that late packets hurt nobody.
        case ended = 0b0100_0000
        case listening = 0b0100_0000_0000
    }

    /// All sockets of a kind; `nil` if the kernel does not tell.
    package func list(_ kind: Kind) -> [Connection]? {
        guard let narrow = list(kind, AF_INET), let wide = list(kind, AF_INET6) else { return nil }
        return narrow + wide
    }

    private func list(_ kind: Kind, _ family: Int32) -> [Connection]? {
        var request: [UInt8] = []
        func append(_ number: some FixedWidthInteger) {
            unsafe withUnsafeBytes(of: number) { unsafe request += $0 }
        }
        append(UInt32(72))
        append(UInt16(20))
        // NLM_F_REQUEST and NLM_F_DUMP.
        append(UInt16(0x301))
        append(UInt64(1))
        append(UInt8(truncatingIfNeeded: family))
        append(UInt8(IPPROTO_TCP))
        append(UInt16(0))
        append(kind.rawValue)
        request += [UInt8](repeating: 0, count: 48)
        return descriptor.withLock { Self.dump(request, on: $0) }
    }

    private static func dump(_ request: [UInt8], on descriptor: Int32) -> [Connection]? {
        guard unsafe send(descriptor, request, request.count, 0) == request.count else {
            return nil
        }
        var found: [Connection] = []
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            switch read(bytes[..<count], into: &found) {
            case .more: continue
            case .done: return found
            case .refused: return nil
            }
        }
    }

    private enum Progress { case more, done, refused }

    private static func read(
        _ bytes: ArraySlice<UInt8>, into found: inout [Connection]
    ) -> Progress {
        var rest = bytes
        while rest.count >= headerSize {
            let size = Int(number(rest, at: 0, as: UInt32.self))
            guard size >= headerSize, size <= rest.count else { return .refused }
            switch number(rest, at: 4, as: UInt16.self) {
            case 3: return .done
            case 2: return .refused
            default: if size >= answerSize { found.append(connection(rest.prefix(size))) }
            }
            rest = rest.dropFirst((size + 3) & ~3)
        }
        return .more
    }

    /// A struct inet_diag_msg behind its header.
    private static func connection(_ message: ArraySlice<UInt8>) -> Connection {
        let start = message.startIndex
        let size = message[start + 16] == UInt8(AF_INET6) ? 16 : 4
        func address(_ place: Int, port: Int) -> SocketAddress {
            SocketAddress(
                address: Array(message[(start + place)..<(start + place + size)]),
                port: UInt16(message[start + port]) << 8 | UInt16(message[start + port + 1])
            ).withoutMapping
        }
        return Connection(
            local: address(24, port: 20), remote: address(40, port: 22),
            inode: UInt64(number(message, at: 84, as: UInt32.self)),
            user: number(message, at: 80, as: UInt32.self))
    }

    /// In the machine's order.
    private static func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: ArraySlice<UInt8>, at place: Int, as type: Number.Type
    ) -> Number {
        unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: place, as: type) }
    }

    private static let headerSize = 16
    private static let answerSize = 16 + 72
}
