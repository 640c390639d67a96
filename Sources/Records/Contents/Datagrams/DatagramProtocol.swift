internal import Base
internal import DNS

/// What is spoken in datagrams of UDP; the raw values are what records call it, and a contract.
package enum DatagramProtocol: String, Sendable, CaseIterable {
    case dns
    case mdns
    case llmnr
    /// Names of NetBIOS (RFC 1002 §4.2).
    case nbns
    /// Datagrams of NetBIOS (RFC 1002 §4.4).
    case netbios
    case ssdp
    /// WS-Discovery.
    case wsd
    case snmp
    case sip
    case syslog
    case ntp
    case dhcp
    case stun
    case quic
    case dtls
    case wireguard
    case other = "udp"

    /// Who sent a datagram, where that shows.
    package enum Sender: Sendable {
        case client
        case origin
    }

    /// Whether what is said inside can be read by nobody on the way.
    package var isEncrypted: Bool { self == .quic || self == .dtls || self == .wireguard }

    /// Judges a datagram by what it says, and by its ports only where that is not enough.
    ///
    /// - Parameter ports: of both ends, in any order.
    package static func judge(
        _ bytes: [UInt8], ports: (UInt16, UInt16)
    ) -> (name: DatagramProtocol, sender: Sender?) {
        guard let first = bytes.first else { return (.other, nil) }
        if let judged = words(bytes, ports) ?? secured(bytes) ?? framed(bytes) { return judged }
        if first == 0x30, let message = SNMPMessage(bytes), message.end == bytes.count {
            return (.snmp, message.isResponse ? .origin : nil)
        }
        return names(bytes, ports) ?? numbered(bytes, ports) ?? (.other, nil)
    }

    private typealias Judgement = (name: DatagramProtocol, sender: Sender?)

    // MARK: Words

    private static func words(_ bytes: [UInt8], _ ports: (UInt16, UInt16)) -> Judgement? {
        guard (0x20..<0x7F).contains(bytes[0]) else { return nil }
        let line = bytes.prefix(lineLimit).prefix { $0 != 0x0D && $0 != 0x0A }
        let text = line.text
        if text.hasPrefix("M-SEARCH * HTTP/1.") || text.hasPrefix("NOTIFY * HTTP/1.") {
            return (.ssdp, .client)
        }
        if text.hasPrefix("HTTP/1.1 200"), has(ports, 1900) || hasSearchTarget(bytes) {
            return (.ssdp, .origin)
        }
        if text.hasPrefix("SIP/2.0 ") { return (.sip, .origin) }
        if text.hasSuffix(" SIP/2.0") { return (.sip, .client) }
        if bytes[0] == UInt8(ascii: "<") {
            if isSyslog(bytes) { return (.syslog, .client) }
            if has(ports, 3702) { return (.wsd, nil) }
        }
        return nil
    }

    /// Whether it answers a search (UPnP Device Architecture §1.3.3).
    private static func hasSearchTarget(_ bytes: [UInt8]) -> Bool {
        bytes.prefix(2048).split(separator: 0x0A).contains {
            $0.prefix(3).elementsEqual([UInt8]("ST:".utf8))
        }
    }

    /// A priority of at most 191 in brackets, and text (RFC 5424 §6.2.1, RFC 3164 §4.1.1).
    private static func isSyslog(_ bytes: [UInt8]) -> Bool {
        let digits = bytes.dropFirst().prefix { $0.isASCIIDigit }
        guard (1...3).contains(digits.count), digits.reduce(0, { $0 * 10 + Int($1 & 15) }) <= 191
        else { return false }
        let rest = bytes.dropFirst(1 + digits.count)
        return rest.count > 1 && rest.first == UInt8(ascii: ">")
            && rest.dropFirst().prefix(64).allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    // MARK: Encryption

    private static func secured(_ bytes: [UInt8]) -> Judgement? {
        // A record of DTLS (RFC 9147 §4), and the message that it begins with.
        if (20...25).contains(bytes[0]), bytes.count >= 13, bytes[1] == 0xFE,
            [0xFF, 0xFD, 0xFC].contains(bytes[2]),
            13 + Int(bytes[11]) << 8 + Int(bytes[12]) <= bytes.count
        {
            let message = bytes[0] == 22 && bytes.count > 13 ? bytes[13] : 0
            return (.dtls, message == 1 ? .client : message == 2 || message == 3 ? .origin : nil)
        }
        if bytes[0] & 0xC0 == 0xC0, bytes.count >= 7, isQUIC(bytes) { return (.quic, nil) }
        // WireGuard's four messages, of fixed lengths but the last.
        guard (1...4).contains(bytes[0]), bytes.dropFirst().prefix(3).allSatisfy({ $0 == 0 }) else {
            return nil
        }
        switch (bytes[0], bytes.count) {
        case (1, 148): return (.wireguard, .client)
        case (2, 92): return (.wireguard, .origin)
        case (3, 64): return (.wireguard, nil)
        case (4, 32...) where bytes.count.isMultiple(of: 16): return (.wireguard, nil)
        default: return nil
        }
    }

    /// A long header (RFC 8999 §5.1) of a version that is in use, and ids that fit.
    private static func isQUIC(_ bytes: [UInt8]) -> Bool {
        let version = number32(bytes, 1)
        let isKnown =
            version <= 1 || version == 0x6B33_43CF || version >> 8 == 0xFF_0000
            || version & 0x0F0F_0F0F == 0x0A0A_0A0A
        let first = Int(bytes[5])
        guard isKnown, first <= 20, bytes.count > 6 + first else { return false }
        let second = Int(bytes[6 + first])
        return second <= 20 && bytes.count >= 7 + first + second
    }

    // MARK: Frames

    private static func framed(_ bytes: [UInt8]) -> Judgement? {
        // RFC 8489 §5.
        if bytes.count >= 20, bytes[0] & 0xC0 == 0, number32(bytes, 4) == 0x2112_A442,
            Int(bytes[2]) << 8 + Int(bytes[3]) + 20 == bytes.count
        {
            return (.stun, bytes[0] & 1 != 0 ? .origin : .client)
        }
        // RFC 2131 §2, §3.
        if bytes.count >= 240, (1...2).contains(bytes[0]), number32(bytes, 236) == 0x6382_5363 {
            return (.dhcp, bytes[0] == 1 ? .client : .origin)
        }
        return nil
    }

    // MARK: Names

    private static func names(_ bytes: [UInt8], _ ports: (UInt16, UInt16)) -> Judgement? {
        var reader = DNSMessageReader(bytes.span)
        var isWhole = true
        do throws(DNSViolation) { try reader.read() } catch { isWhole = false }
        let message = reader.message
        let named: [(UInt16, DatagramProtocol)] = [
            (5353, .mdns), (5355, .llmnr), (137, .nbns), (53, .dns),
        ]
        let port = named.first { has(ports, $0.0) }?.1
        // Elsewhere all of it has to make sense.
        guard reader.hasHeader, isWhole || port != nil, message.operation <= 9,
            !message.questions.isEmpty || !message.answers.isEmpty
        else { return nil }
        let isResponse = message.flags.contains(.response)
        return (port ?? .dns, isResponse ? .origin : .client)
    }

    // MARK: What needs a port

    private static func numbered(_ bytes: [UInt8], _ ports: (UInt16, UInt16)) -> Judgement? {
        // RFC 5905 §7.3: version and mode; extensions come in units of four bytes.
        if has(ports, 123), bytes.count >= 48, bytes.count.isMultiple(of: 4),
            (1...4).contains(bytes[0] >> 3 & 7), (1...5).contains(bytes[0] & 7)
        {
            return (.ntp, bytes[0] & 7 == 3 ? .client : bytes[0] & 7 == 4 ? .origin : nil)
        }
        // Of control and private messages, the head alone (RFC 9327 §2).
        if has(ports, 123), bytes.count >= 8, bytes[0] & 7 >= 6 { return (.ntp, nil) }
        if ports == (138, 138), (0x10...0x16).contains(bytes[0]), bytes.count >= 10 {
            return (.netbios, .client)
        }
        // RFC 8415 §8: a message's type, and who may listen.
        let isDHCP = (has(ports, 546) || has(ports, 547)) && (1...13).contains(bytes[0])
        return isDHCP && bytes.count >= 4 ? (.dhcp, nil) : nil
    }

    private static func has(_ ports: (UInt16, UInt16), _ port: UInt16) -> Bool {
        ports.0 == port || ports.1 == port
    }

    private static func number32(_ bytes: [UInt8], _ place: Int) -> UInt32 {
        bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// In bytes: of a longer first line, its beginning decides.
    private static let lineLimit = 2048
}
