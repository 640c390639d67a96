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
            // Windows' own login stands in a packet of its own, behind one that names nobody.
            if kind == 0x11, let answer = NTLMAnswer(in: body) {
                return ClearLogin(.tds, answer).map { [$0] } ?? []
            }
            guard kind == 0x10 || kind == 0x11 else { return [] }
            if kind == 0x10, let login = login(body) { return [login] }
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
        return ClearLogin(
            .tds, .login7, user: UTF16Text.utf8(user)[...],
            secret: UTF16Text.utf8(secret)[...])
    }

    private static let packetLimit = 8
}
