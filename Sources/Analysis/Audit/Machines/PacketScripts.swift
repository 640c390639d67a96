internal import Base

/// PostgreSQL documentation, "Message Flow: SSL Session Encryption".
struct PostgreSQLScript: UpgradeScript {
    let mode: UpgradeMode
    let greeting: [UInt8] = []

    mutating func next(_ bytes: inout [UInt8]) -> UpgradeStep? {
        guard bytes.count >= 8 else { return nil }
        let length = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        let code = bytes[4..<8].reduce(0) { $0 << 8 | Int($1) }
        guard (8...10_000).contains(length) else { return .leave([]) }
        guard bytes.count >= length else { return nil }
        bytes.removeFirst(length)
        switch code {
        case 80_877_103:
            guard mode.grants else { return .say(Array("N".utf8)) }
            return .upgrade(Array("S".utf8) + (mode == .injected ? Self.forged : []))
        // Encryption by GSSAPI, before TLS is asked for.
        case 80_877_104: return .say(Array("N".utf8))
        default: return .expose("the client began a PostgreSQL session in cleartext")
        }
    }

    /// AuthenticationOk and ReadyForQuery (CVE-2021-23222).
    private static let forged: [UInt8] =
        [0x52, 0, 0, 0, 8, 0, 0, 0, 0] + [0x5A, 0, 0, 0, 5, 0x49]
}

/// MySQL documentation, "Connection Phase".
struct MySQLScript: UpgradeScript {
    let mode: UpgradeMode

    private static let offersTLS: UInt16 = 0x0800

    var greeting: [UInt8] {
        // LONG_PASSWORD, PROTOCOL_41, SECURE_CONNECTION and what comes with them.
        let low: UInt16 = 0xA201 | (mode.grants ? Self.offersTLS : 0)
        let salt = [UInt8](repeating: 0x61, count: 20)
        var body: [UInt8] = [10] + Array("8.0.36\0".utf8) + [1, 0, 0, 0] + salt.prefix(8) + [0]
        body += [UInt8(low & 0xFF), UInt8(low >> 8), 0x21, 2, 0, 0x08, 0, 21]
        body += [UInt8](repeating: 0, count: 10) + salt.suffix(12) + [0]
        body += Array("mysql_native_password\0".utf8)
        return [UInt8(body.count), 0, 0, 0] + body
    }

    mutating func next(_ bytes: inout [UInt8]) -> UpgradeStep? {
        guard bytes.count >= 4 else { return nil }
        let size = 4 + (Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16)
        guard (8...10_000).contains(size) else { return .leave([]) }
        guard bytes.count >= size else { return nil }
        let abilities = UInt16(bytes[4]) | UInt16(bytes[5]) << 8
        bytes.removeFirst(size)
        // A request for TLS is the answer's beginning, without a name in it.
        if abilities & Self.offersTLS != 0, size == 36, mode.grants { return .upgrade([]) }
        return .expose("the client logged in to MySQL in cleartext")
    }
}

/// RFC 4511 §4.14.
struct LDAPScript: UpgradeScript {
    let mode: UpgradeMode
    let greeting: [UInt8] = []

    mutating func next(_ bytes: inout [UInt8]) -> UpgradeStep? {
        guard bytes.count >= 2 else { return nil }
        // SEQUENCE, its length, INTEGER of up to four bytes, and what it is.
        guard bytes[0] == 0x30 else { return .leave([]) }
        let extra = bytes[1] < 0x80 ? 0 : Int(bytes[1] & 0x7F)
        guard extra <= 3 else { return .leave([]) }
        guard bytes.count >= 2 + extra else { return nil }
        let length =
            extra == 0 ? Int(bytes[1]) : bytes[2..<(2 + extra)].reduce(0) { $0 << 8 | Int($1) }
        let size = 2 + extra + length
        guard size <= 10_000 else { return .leave([]) }
        guard bytes.count >= size else { return nil }
        let message = Array(bytes[(2 + extra)..<size])
        bytes.removeFirst(size)
        guard message.count > 2, message[0] == 2, (1...4).contains(Int(message[1])),
            message.count > 2 + Int(message[1])
        else { return .leave([]) }
        let id = message[..<(2 + Int(message[1]))]
        return answer(to: message[id.endIndex], message, id: Array(id))
    }

    /// Whether a search is for the entry that describes the server: no name, that object alone.
    private static func asksForRoot(_ search: ArraySlice<UInt8>) -> Bool {
        // Its tag and length, which has one byte where the name is empty.
        search.dropFirst(2).starts(with: [0x04, 0, 0x0A, 1, 0])
    }

    private func rootEntry(_ id: [UInt8]) -> [UInt8] {
        let extensions = Self.item(0x04, Array("1.3.6.1.4.1.1466.20037".utf8))
        let attribute =
            Self.item(0x04, Array("supportedExtension".utf8)) + Self.item(0x31, extensions)
        let attributes = Self.item(0x30, mode.grants ? Self.item(0x30, attribute) : [])
        let entry = Self.item(0x64, [0x04, 0] + attributes)
        let done: [UInt8] = [0x65, 7, 0x0A, 1, 0, 4, 0, 4, 0]
        return Self.item(0x30, id + entry) + Self.item(0x30, id + done)
    }

    /// BER of less than 128 bytes.
    private static func item(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag, UInt8(content.count)] + content
    }

    private func answer(to operation: UInt8, _ message: [UInt8], id: [UInt8]) -> UpgradeStep {
        switch operation {
        case 0x77:
            let isUpgrade = message.text.contains("1.3.6.1.4.1.1466.20037")
            let code: UInt8 = isUpgrade && mode.grants ? 0 : 2
            let reply = id + [0x78, 7, 0x0A, 1, code, 4, 0, 4, 0]
            let whole = [0x30, UInt8(reply.count)] + reply
            return code == 0 ? .upgrade(whole) : .say(whole)
        case 0x42: return .leave([])
        // What a server can do is asked for before TLS (RFC 4513 §3.1.2).
        case 0x63 where Self.asksForRoot(message[id.endIndex...]): return .say(rootEntry(id))
        case 0x60: return .expose("the client logged in to LDAP in cleartext")
        default: return .expose("the client asked an LDAP server in cleartext")
        }
    }
}
