internal import Base

/// Tells from the first bytes of either side what kind of dialogue begins.
enum DialogueOpening: Equatable {
    case lines
    case xmpp
    case ldap
    case postgresql
    case mysql
    /// A protocol that is only named, `nil` for an unknown one.
    case named(String?)

    /// In bytes: with so many of one side there is always a judgement.
    static let windowLimit = 64

    /// Judges the first bytes of the client; `nil` if more are needed.
    static func ofClient(_ bytes: [UInt8]) -> DialogueOpening? {
        guard let first = bytes.first else { return nil }
        if mayBeMongoDB(bytes) { return bytes.count < 16 ? nil : .named("mongodb") }
        if first == 0, let verdict = dns(bytes) { return verdict ? .named("dns") : nil }
        if first == 0 || first.isASCIIDigit, RemoteHead.mayBegin(bytes) { return remote(bytes) }
        switch first {
        case 0x00: return postgresql(bytes)
        case 0x03: return start(bytes, of: [0x03, 0x00], .named("rdp"))
        case 0x10: return mqtt(bytes)
        case 0x12: return start(bytes, of: [0x12, 0x01, 0x00], .named("tds"))
        case 0x2A:
            guard bytes.count > 1 else { return nil }
            return bytes[1].isASCIIDigit ? .named("redis") : .lines
        case 0x30: return ldap(bytes)
        case 0x3C: return .xmpp
        case 0x41: return start(bytes, of: Array("AMQP".utf8), .named("amqp"), else: .lines)
        case 0x80: return memcached(bytes)
        default: return isText(first) ? .lines : .named(nil)
        }
    }

    /// Judges the first bytes of the origin; `nil` if more are needed.
    static func ofOrigin(_ bytes: [UInt8]) -> DialogueOpening? {
        guard let first = bytes.first else { return nil }
        guard bytes.count > 1 else { return nil }
        // IAC with WILL, WONT, DO or DONT (RFC 854).
        if first == 0xFF, (0xFB...0xFE).contains(bytes[1]) { return .named("telnet") }
        if isText(first), isText(bytes[1]) { return .lines }
        return mysql(bytes)
    }

    private static func isText(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F || byte == 0x0D || byte == 0x0A || byte == 0x09
    }

    private static func start(
        _ bytes: [UInt8], of expected: [UInt8], _ verdict: DialogueOpening,
        else other: DialogueOpening = .named(nil)
    ) -> DialogueOpening? {
        guard zip(bytes, expected).allSatisfy(==) else { return other }
        return bytes.count >= expected.count ? verdict : nil
    }

    /// A length and a code: SSLRequest, GSSENCRequest, CancelRequest or a version.
    private static func postgresql(_ bytes: [UInt8]) -> DialogueOpening? {
        guard bytes.count > 1, bytes[1] == 0 else { return bytes.count > 1 ? .named(nil) : nil }
        guard bytes.count >= 8 else { return nil }
        let length = bigEndian(bytes[0..<4])
        let code = bigEndian(bytes[4..<8])
        let isKnown = code >> 16 == 3 || code >> 16 == 2 || (80_877_102...80_877_104).contains(code)
        let fits = (8...UInt64(PostgreSQLDialogue.startupLimit)).contains(length)
        return isKnown && fits ? .postgresql : .named(nil)
    }

    /// A message's length below 64 KiB, any number of its own, none that it answers, and OP_QUERY or
    /// OP_MSG.
    private static func mayBeMongoDB(_ bytes: [UInt8]) -> Bool {
        let head = bytes.prefix(16)
        let isEmpty = (head.dropFirst(2).prefix(2) + head.dropFirst(8).prefix(4)).allSatisfy {
            $0 == 0
        }
        let code = Array(head.dropFirst(12))
        let codes: [[UInt8]] = [[0xD4, 0x07, 0, 0], [0xDD, 0x07, 0, 0]]
        return isEmpty && codes.contains { $0.starts(with: code) }
    }

    /// A question behind its length (RFC 1035 §4.2.2): a query, one question, no answers.
    ///
    /// - Returns: `nil` if it is none, `false` if more is needed.
    private static func dns(_ bytes: [UInt8]) -> Bool? {
        let expected: [(UInt8) -> Bool] = [
            { $0 == 0 }, { $0 >= 17 }, { _ in true }, { _ in true }, { $0 & 0xFE == 0 },
            { $0 & 0xCF == 0 }, { $0 == 0 }, { $0 == 1 }, { $0 == 0 }, { $0 == 0 }, { $0 == 0 },
            { $0 == 0 }, { $0 == 0 }, { $0 <= 2 }, { $0 < 64 },
        ]
        for (byte, fits) in zip(bytes, expected) where !fits(byte) { return nil }
        return bytes.count >= expected.count
    }

    private static func remote(_ bytes: [UInt8]) -> DialogueOpening? {
        if let head = RemoteHead(bytes) { return .named(head.isTerminal ? "rlogin" : "rsh") }
        return nil
    }

    /// A command without a bucket whose key and extras fit into what follows (BinaryProtocolRevamped).
    private static func memcached(_ bytes: [UInt8]) -> DialogueOpening? {
        guard bytes.count >= 12 else { return nil }
        let isCommand = bytes[1] < 0x50 && bytes[5...7].allSatisfy { $0 == 0 }
        let fits = bigEndian(bytes[2..<4]) + UInt64(bytes[4]) <= bigEndian(bytes[8..<12])
        return .named(isCommand && fits ? "memcached" : nil)
    }

    /// A CONNECT packet: the protocol's name behind the remaining length.
    private static func mqtt(_ bytes: [UInt8]) -> DialogueOpening? {
        guard bytes.count > 1 else { return nil }
        var nameStart = 1
        while nameStart < bytes.count, bytes[nameStart] & 0x80 != 0 { nameStart += 1 }
        nameStart += 1
        guard nameStart <= 5 else { return .named(nil) }
        guard bytes.count >= nameStart + 4 else { return nil }
        let field = Array(bytes[nameStart..<nameStart + 4])
        let isName = field == [0, 4, 0x4D, 0x51] || field == [0, 6, 0x4D, 0x51]
        return .named(isName ? "mqtt" : nil)
    }

    /// SEQUENCE, a message ID, and the tag of an operation that a client can begin with.
    private static func ldap(_ bytes: [UInt8]) -> DialogueOpening? {
        guard bytes.count > 1 else { return nil }
        var position = 2
        if bytes[1] & 0x80 != 0 {
            guard (0x81...0x84).contains(bytes[1]) else { return .named(nil) }
            position += Int(bytes[1] & 0x7F)
        }
        guard bytes.count > position + 1 else { return nil }
        guard bytes[position] == 2, (1...4).contains(bytes[position + 1]) else {
            return .named(nil)
        }
        let tag = position + 2 + Int(bytes[position + 1])
        guard bytes.count > tag else { return nil }
        let requests: [UInt8] = [
            0x42, 0x4A, 0x50, 0x60, 0x63, 0x66, 0x68, 0x6C, 0x6E, 0x77,
        ]
        return requests.contains(bytes[tag]) ? .ldap : .named(nil)
    }

    /// A short packet with the number 0, protocol 10, and a version that starts with a digit.
    private static func mysql(_ bytes: [UInt8]) -> DialogueOpening? {
        let expected: [(UInt8) -> Bool] = [
            { _ in true }, { $0 < 4 }, { $0 == 0 }, { $0 == 0 }, { $0 == 10 },
            { $0.isASCIIDigit },
        ]
        for (byte, fits) in zip(bytes, expected) where !fits(byte) { return .named(nil) }
        return bytes.count >= expected.count ? .mysql : nil
    }
}
