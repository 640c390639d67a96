internal import Base

/// MySQL: a password that the origin asked for in plain, by the plugin mysql_clear_password, or the
/// answer to its challenge (Protocol::HandshakeResponse41).
enum MySQLLoginReader {
    static func logins(client: [UInt8], origin: [UInt8]) -> [ClearLogin] {
        guard origin.count > 4, origin[3] == 0, origin[4] == 10 else { return [] }
        guard let number = switchNumber(origin) else { return hash(client).map { [$0] } ?? [] }
        var cursor = ByteCursor(client[...])
        var user: ArraySlice<UInt8>?
        while let packet = packet(&cursor) {
            // The flag for TLS: what follows is not plain.
            guard user != nil || packet.payload.count > 32 else { return [] }
            if user == nil { user = packet.payload.dropFirst(32).prefix { $0 != 0 } }
            guard packet.number == (number + 1) & 0xFF else { continue }
            let secret = packet.payload.prefix { $0 != 0 }
            guard secret.count == packet.payload.count - 1,
                let login = ClearLogin(.mysql, .clearPassword, user: user, secret: secret)
            else { return [] }
            return [login]
        }
        return []
    }

    /// What the client answers to the greeting's challenge.
    private static func hash(_ client: [UInt8]) -> ClearLogin? {
        var cursor = ByteCursor(client[...])
        guard let packet = packet(&cursor), packet.number == 1, packet.payload.count > 32 else {
            return nil
        }
        var fields = ByteCursor(packet.payload.dropFirst(32))
        let user = fields.rest.prefix { $0 != 0 }
        guard fields.bytes(user.count + 1) != nil, let answer = fields.vector(1) else { return nil }
        switch answer.count {
        case 20: return ClearLogin(.mysql, .nativePassword, user: user, hash: answer)
        case 32: return ClearLogin(.mysql, .cachingSHA2, user: user, hash: answer)
        default: return nil
        }
    }

    /// The number of the packet in which the origin switches to the plugin.
    private static func switchNumber(_ origin: [UInt8]) -> Int? {
        var cursor = ByteCursor(origin[...])
        let ask = [0xFE] + Array("mysql_clear_password\0".utf8)
        for _ in 0..<8 {
            guard let packet = packet(&cursor) else { return nil }
            if packet.payload.starts(with: ask) { return packet.number }
        }
        return nil
    }

    private static func packet(
        _ cursor: inout ByteCursor
    ) -> (number: Int, payload: ArraySlice<UInt8>)? {
        guard let size = cursor.littleEndian(3), let number = cursor.number(1) else { return nil }
        return cursor.bytes(size).map { (number, $0) }
    }
}
