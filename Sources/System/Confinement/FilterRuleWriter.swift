internal import Glibc

/// Writes the expressions of one nftables rule (linux/netfilter/nf_tables.h).
///
/// All of them use the first register: load, compare, act.
struct FilterRuleWriter {
    private(set) var expressions = NetlinkWriter()

    /// Goes on if the transport protocol is the one given.
    mutating func matchTransport(_ number: Int) {
        loadMeta(16)
        compare([UInt8(truncatingIfNeeded: number)])
    }

    /// Goes on if the packet is IPv4, or else IPv6.
    mutating func matchFamily(_ family: Int32) {
        loadMeta(15)
        compare([family == AF_INET6 ? 10 : 2])
    }

    mutating func matchMark(_ mark: UInt32) {
        loadMeta(3)
        compare(unsafe withUnsafeBytes(of: mark) { unsafe [UInt8]($0) })
    }

    /// Goes on if the port of destination is the one given.
    mutating func matchPort(_ port: UInt16) {
        loadPayload(base: 2, offset: 2, length: 2)
        compare([UInt8(port >> 8), UInt8(port & 0xFF)])
    }

    /// Goes on if a message of ICMP is of the type given.
    mutating func matchControlMessage(_ type: UInt8) {
        loadPayload(base: 2, offset: 0, length: 1)
        compare([type])
    }

    /// Goes on if what a datagram holds begins as a packet of QUIC with a long header does
    /// (RFC 9000 §17.2).
    mutating func matchLongHeader() {
        loadPayload(base: 2, offset: 8, length: 1)
        compare([0xC0], 5)
    }

    /// Goes on if the destination begins with the bytes given.
    mutating func matchDestination(_ prefix: [UInt8], family: Int32) {
        matchFamily(family)
        loadPayload(base: 1, offset: family == AF_INET6 ? 24 : 16, length: prefix.count)
        compare(prefix)
    }

    /// Counts into a named counter.
    mutating func count(_ name: String) {
        expression("objref") {
            $0.attribute(1, bigEndian: UInt32(1))
            $0.attribute(2, text: name)
        }
    }

    /// Sends the packet's start to whoever listens to the group.
    mutating func log(prefix: String) {
        expression("log") {
            $0.attribute(1, bigEndian: FilterRules.logGroup)
            $0.attribute(2, text: prefix)
            $0.attribute(3, bigEndian: FilterRules.loggedBytes)
            $0.attribute(4, bigEndian: UInt16(1))
        }
    }

    mutating func accept() {
        verdict(1)
    }

    mutating func drop() {
        verdict(0)
    }

    /// Answers that the port is closed; who sends is told at once.
    mutating func reject() {
        expression("reject") {
            $0.attribute(1, bigEndian: UInt32(2))
            $0.attribute(2, [1])
        }
    }

    /// Leads the flow to a port of this machine.
    mutating func redirect(to port: UInt16) {
        expression("immediate") {
            $0.attribute(1, bigEndian: UInt32(1))
            $0.nested(2) { $0.attribute(1, [UInt8(port >> 8), UInt8(port & 0xFF)]) }
        }
        expression("redir") {
            $0.attribute(1, bigEndian: UInt32(1))
        }
    }

    private mutating func verdict(_ code: UInt32) {
        expression("immediate") {
            $0.attribute(1, bigEndian: UInt32(0))
            $0.nested(2) { $0.nested(2) { $0.attribute(1, bigEndian: code) } }
        }
    }

    private mutating func loadMeta(_ key: UInt32) {
        expression("meta") {
            $0.attribute(1, bigEndian: UInt32(1))
            $0.attribute(2, bigEndian: key)
        }
    }

    private mutating func loadPayload(base: UInt32, offset: Int, length: Int) {
        expression("payload") {
            $0.attribute(1, bigEndian: UInt32(1))
            $0.attribute(2, bigEndian: base)
            $0.attribute(3, bigEndian: UInt32(offset))
            $0.attribute(4, bigEndian: UInt32(length))
        }
    }

    /// - Parameter operation: 0 for equal, 5 for no less.
    private mutating func compare(_ value: [UInt8], _ operation: UInt32 = 0) {
        expression("cmp") {
            $0.attribute(1, bigEndian: UInt32(1))
            $0.attribute(2, bigEndian: operation)
            $0.nested(3) { $0.attribute(1, value) }
        }
    }

    private mutating func expression(_ name: String, _ data: (inout NetlinkWriter) -> Void) {
        expressions.nested(1) {
            $0.attribute(1, text: name)
            $0.nested(2, data)
        }
    }
}
