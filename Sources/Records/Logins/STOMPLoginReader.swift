internal import Base

/// STOMP: the passcode of the first frame (STOMP 1.2, CONNECT or STOMP Frame).
enum STOMPLoginReader {
    static func logins(client: [UInt8]) -> [ClearLogin] {
        var cursor = ByteCursor(client[...])
        guard let verb = cursor.line()?.text, verb == "CONNECT" || verb == "STOMP" else {
            return []
        }
        var user: ArraySlice<UInt8>?
        var secret: ArraySlice<UInt8>?
        for _ in 0..<64 {
            guard let line = cursor.line() else { return [] }
            if line.isEmpty { break }
            if line.starts(with: "login:".utf8) { user = line.dropFirst(6) }
            if line.starts(with: "passcode:".utf8) { secret = line.dropFirst(9) }
        }
        guard let secret, let login = ClearLogin(.stomp, .connect, user: user, secret: secret)
        else { return [] }
        return [login]
    }
}
