internal import Base

/// SOCKS 5: the name and password that the proxy has asked for (RFC 1929 §2).
enum SOCKSLoginReader {
    static func logins(client: [UInt8], origin: [UInt8]) -> [ClearLogin] {
        var cursor = ByteCursor(client[...])
        guard cursor.number(1) == 5, let methods = cursor.vector(1), methods.contains(2),
            origin.isEmpty || origin.starts(with: [5, 2]), cursor.number(1) == 1,
            let user = cursor.vector(1), let secret = cursor.vector(1),
            var login = ClearLogin(.socks, .userPassword, user: user, secret: secret)
        else { return [] }
        if origin.count >= 4, origin[2] == 1 {
            login.answer = origin[3] == 0 ? .accepted : .rejected
        }
        return [login]
    }
}
