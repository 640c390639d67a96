internal import Base

/// The binary protocol of memcached: SASL's PLAIN.
enum MemcachedLoginReader {
    static func logins(client: [UInt8]) -> [ClearLogin] {
        var cursor = ByteCursor(client[...])
        var found: [ClearLogin] = []
        while found.count < ClearLogin.countLimit, let header = cursor.bytes(24),
            header.first == 0x80
        {
            var fields = ByteCursor(header.dropFirst())
            guard let code = fields.number(1), let keyLength = fields.number(2),
                let extrasLength = fields.number(1), fields.number(3) != nil,
                let length = fields.number(4), let body = cursor.bytes(length)
            else { break }
            // SASL Auth, and SASL Step.
            guard code == 0x21 || code == 0x22 else { continue }
            var parts = ByteCursor(body)
            guard parts.bytes(extrasLength) != nil, let mechanism = parts.bytes(keyLength) else {
                break
            }
            if mechanism.text == "PLAIN",
                let login = ClearLogin(.memcached, .saslPlain, plain: parts.rest)
            {
                found.append(login)
            }
        }
        return found
    }
}
