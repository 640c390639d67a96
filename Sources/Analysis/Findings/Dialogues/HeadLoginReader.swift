internal import Base

/// RTSP and SIP: Authorization in requests whose heads look like HTTP's (RFC 7826, RFC 3261).
enum HeadLoginReader {
    static func logins(client: [UInt8]) -> [ClearLogin] {
        var cursor = ByteCursor(client[...])
        var found: [ClearLogin] = []
        // The first line says what is spoken; the same words in a mail are its content.
        guard let name = cursor.line().flatMap(name) else { return [] }
        for _ in 0..<lineLimit {
            guard found.count < ClearLogin.countLimit, let line = cursor.line() else { break }
            guard let colon = line.prefix(32).firstIndex(of: 0x3A) else { continue }
            let field = line[..<colon].lowercasedBytes.text
            guard field == "authorization" || field == "proxy-authorization" else { continue }
            if let login = login(name, Array(line[(colon + 1)...]).trimmed) { found.append(login) }
        }
        return found
    }

    private static func name(_ line: ArraySlice<UInt8>) -> ProtocolName? {
        if line.hasSuffix(" RTSP/1.0") || line.hasSuffix(" RTSP/2.0") { return .rtsp }
        return line.hasSuffix(" SIP/2.0") ? .sip : nil
    }

    private static func login(_ name: ProtocolName, _ credentials: [UInt8]) -> ClearLogin? {
        let scheme = credentials.prefix { $0 != 0x20 }.lowercasedBytes.text
        let rest = Array(credentials.drop { $0 != 0x20 }).trimmed
        if scheme == "basic" {
            guard let pair = Base64.decode(rest), let colon = pair.firstIndex(of: 0x3A) else {
                return nil
            }
            return ClearLogin(name, .basic, user: pair[..<colon], secret: pair[(colon + 1)...])
        }
        guard scheme == "digest" else { return nil }
        let parts = rest.split(separator: 0x2C).map { Array($0).trimmed }
        func value(_ key: String) -> ArraySlice<UInt8>? {
            let part = parts.first { $0.starts(with: "\(key)=".utf8) }
            return part?.dropFirst(key.utf8.count + 1).filter { $0 != 0x22 }[...]
        }
        return value("response").flatMap {
            ClearLogin(name, .digest, user: value("username"), hash: $0)
        }
    }

    private static let lineLimit = 1024
}

extension ArraySlice<UInt8> {
    fileprivate func hasSuffix(_ text: String) -> Bool {
        suffix(text.utf8.count).elementsEqual(text.utf8)
    }
}
