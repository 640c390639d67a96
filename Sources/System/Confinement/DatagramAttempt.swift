internal import Glibc

/// A packet that the confined command sent and that is no TCP and no DNS: a way past the proxy that
/// it tried.
package struct DatagramAttempt: Sendable, Equatable {
    package enum Kind: String, Sendable {
        /// UDP to port 443; refused, so that the client falls back to TCP.
        case quic
        /// Other UDP to the outside; refused.
        case udp
        /// UDP to an address of the namespace's own, one a flow; it was let through and goes
        /// nowhere else.
        case inside
        /// Neither TCP nor UDP, such as a ping; dropped.
        case other
    }

    package let kind: Kind
    /// 4 or 16 bytes in network order.
    package let source: [UInt8]
    package let destination: [UInt8]
    /// 0 where the protocol has none.
    package let sourcePort: UInt16
    package let destinationPort: UInt16
    /// The number that IP gives the protocol: 17 is UDP.
    package let transport: UInt8
    /// What the datagram holds, such as a QUIC Initial; the start if it is very long.
    package let payload: [UInt8]

    /// Reads a packet from its IP header on; `nil` if it is none.
    init?(kind: Kind, packet: ArraySlice<UInt8>) {
        let bytes = Array(packet)
        guard let first = bytes.first else { return nil }
        let start: Int
        if first >> 4 == 4, bytes.count >= 20 {
            start = Int(first & 0xF) * 4
            transport = bytes[9]
            source = Array(bytes[12..<16])
            destination = Array(bytes[16..<20])
        } else if first >> 4 == 6, bytes.count >= 40 {
            start = 40
            transport = bytes[6]
            source = Array(bytes[8..<24])
            destination = Array(bytes[24..<40])
        } else {
            return nil
        }
        self.kind = kind
        guard start >= 20, transport == UInt8(IPPROTO_UDP), bytes.count >= start + 8 else {
            sourcePort = 0
            destinationPort = 0
            payload = Array(bytes.dropFirst(start))
            return
        }
        sourcePort = UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])
        destinationPort = UInt16(bytes[start + 2]) << 8 | UInt16(bytes[start + 3])
        payload = Array(bytes[(start + 8)...])
    }
}

/// Reads what the packet filter logs (linux/netfilter/nfnetlink_log.h).
package enum DatagramAttemptReader {
    /// Takes what one `recv` on the attempts' descriptor gave apart.
    package static func attempts(_ bytes: ArraySlice<UInt8>) -> [DatagramAttempt] {
        NetlinkReader.messages(bytes).compactMap { message in
            guard message.type == packetMessage else { return nil }
            let attributes = NetlinkReader.attributes(message.body.dropFirst(4))
            guard let packet = attributes[payloadAttribute],
                let prefix = attributes[prefixAttribute],
                let kind = DatagramAttempt.Kind(
                    rawValue: String(decoding: prefix.prefix { $0 != 0 }, as: UTF8.self))
            else { return nil }
            return DatagramAttempt(kind: kind, packet: packet)
        }
    }

    /// Reads what is there, without waiting; empty if nothing is. Packets are lost when nobody
    /// reads for long: the counters know of them.
    package static func drain(_ descriptor: Int32) -> [DatagramAttempt] {
        var attempts: [DatagramAttempt] = []
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        for _ in 0..<roundLimit {
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
            }
            // ENOBUFS tells that some were lost, and that more are there.
            if count < 0, errno == ENOBUFS || errno == EINTR { continue }
            guard count > 0 else { break }
            attempts += Self.attempts(bytes.prefix(count))
        }
        return attempts
    }

    /// Makes the socket that the log comes by.
    static func open() throws(ConfinementError) -> NetlinkSocket {
        let socket = try NetlinkSocket(protocol: Netlink.netfilter)
        var writer = NetlinkWriter()
        for write in [bind, copyPackets] {
            writer.message(type: configurationMessage, flags: Netlink.acknowledge) {
                FilterRules.header(&$0, family: 0, resource: FilterRules.logGroup)
                write(&$0)
            }
        }
        do throws(ConfinementError) {
            _ = try socket.request(writer, "listen to the packet filter's log")
        } catch {
            socket.close()
            throw error
        }
        return socket
    }

    private static func bind(_ writer: inout NetlinkWriter) {
        writer.attribute(1, [1])
    }

    /// Whole packets, each at once.
    private static func copyPackets(_ writer: inout NetlinkWriter) {
        writer.attribute(
            2,
            unsafe withUnsafeBytes(of: FilterRules.loggedBytes.bigEndian) { unsafe [UInt8]($0) }
                + [2, 0])
        writer.attribute(5, bigEndian: UInt32(1))
    }

    private static let packetMessage: UInt16 = 4 << 8
    private static let configurationMessage: UInt16 = 4 << 8 | 1
    private static let payloadAttribute: UInt16 = 9
    private static let prefixAttribute: UInt16 = 10
    /// Reads in one go, so that a flood cannot hold the reader.
    private static let roundLimit = 256
}
