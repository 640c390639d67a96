internal import Base
internal import Glibc
internal import Sockets

/// Reads `/proc/net/tcp` and `tcp6`, for kernels that cannot be asked for one socket.
///
/// It takes time in proportion to all sockets of the machine.
enum SocketTable {
    /// The socket with the addresses; `nil` if there is none.
    ///
    /// - Parameter process: whose network namespace is meant; 0 is ours.
    static func socket(
        local: SocketAddress, remote: SocketAddress, seenBy process: Int32
    ) -> SocketDiagnosis.Socket? {
        let folder = process == 0 ? "/proc/net" : "/proc/\(process)/net"
        let local = local.withoutMapping
        let remote = remote.withoutMapping
        // A socket for IPv6 that is connected to IPv4 is in the table of IPv6.
        for (name, isWide) in local.isIPv6 ? [("tcp6", false)] : [("tcp", false), ("tcp6", true)] {
            let wanted = [local, remote].map { text(isWide ? $0.mapped : $0) }
            guard let table = read("\(folder)/\(name)") else { continue }
            if let socket = socket(wanted[0], wanted[1], in: table) { return socket }
        }
        return nil
    }

    static func socket(
        _ local: String, _ remote: String, in table: String
    ) -> SocketDiagnosis.Socket? {
        for line in table.split(separator: "\n").dropFirst() {
            let columns = line.split(separator: " ", maxSplits: 10)
            guard columns.count > 9, columns[1] == local, columns[2] == remote else { continue }
            guard let user = UInt32(columns[7]), let inode = UInt64(columns[9]) else { return nil }
            return SocketDiagnosis.Socket(inode: inode, user: user, isListening: false)
        }
        return nil
    }

    /// The address as it is there: words of four bytes in the machine's order, in hexadecimal.
    static func text(_ address: SocketAddress) -> String {
        var text = ""
        for start in stride(from: 0, to: address.address.count, by: 4) {
            for byte in address.address[start..<(start + 4)].reversed() { text += hex(byte) }
        }
        return "\(text):\(hex(UInt8(address.port >> 8)))\(hex(UInt8(address.port & 0xFF)))"
    }

    private static func hex(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16, uppercase: true)
        return text.utf8.count < 2 ? "0" + text : text
    }

    private static func read(_ path: String) -> String? {
        do throws(Failure) {
            return String(decoding: try Files.read(path, byteLimit: 64 << 20), as: UTF8.self)
        } catch {
            return nil
        }
    }
}

extension SocketAddress {
    /// An IPv4 address mapped into IPv6 (RFC 4291 §2.5.5.2).
    fileprivate var mapped: SocketAddress {
        let mapping = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        return isIPv6 ? self : SocketAddress(address: mapping + address, port: port)
    }
}
