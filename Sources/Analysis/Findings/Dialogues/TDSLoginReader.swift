internal import Base

/// TDS, as SQL Server speaks it: the password of LOGIN7, which is only hidden from a glance
/// ([MS-TDS] §2.2.6.4).
enum TDSLoginReader {
    static func logins(client: [UInt8]) -> [ClearLogin] {
        var cursor = ByteCursor(client[...])
        for _ in 0..<packetLimit {
            guard let header = cursor.bytes(8), let kind = header.first else { return [] }
            var fields = ByteCursor(header.dropFirst(2))
            guard let length = fields.number(2), length >= 8, let body = cursor.bytes(length - 8)
            else { return [] }
            // TLS is spoken inside of packets of the first kind.
            if kind == 0x12 { if body.first == 0x16 { return [] } else { continue } }
            guard kind == 0x10 else { return [] }
            return login(body).map { [$0] } ?? []
        }
        return []
    }

    private static func login(_ body: ArraySlice<UInt8>) -> ClearLogin? {
        func text(_ place: Int) -> [UInt8]? {
            guard body.count > place + 4 else { return nil }
            let at = body.startIndex + place
            let offset = Int(body[at]) | Int(body[at + 1]) << 8
            let count = 2 * (Int(body[at + 2]) | Int(body[at + 3]) << 8)
            guard offset + count <= body.count else { return nil }
            return Array(body.dropFirst(offset).prefix(count))
        }
        guard let user = text(40), let hidden = text(44) else { return nil }
        // Each byte with its halves changed, and inverted in every other bit.
        let secret = hidden.map { byte in
            let byte = byte ^ 0xA5
            return byte << 4 | byte >> 4
        }
        return ClearLogin(.tds, .login7, user: narrow(user)[...], secret: narrow(secret)[...])
    }

    /// UTF-16 as UTF-8.
    private static func narrow(_ bytes: [UInt8]) -> [UInt8] {
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map {
            UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    private static let packetLimit = 8
}
