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
            let value = Array(line[(colon + 1)...]).trimmed
            if let login = login(name, value) { found.append(login) }
        }
        return found
    }

    private static func name(_ line: ArraySlice<UInt8>) -> ProtocolName? {
        if line.hasSuffix(" RTSP/1.0") || line.hasSuffix(" RTSP/2.0") { return .rtsp }
        return line.hasSuffix(" SIP/2.0") ? .sip : nil
    }

    private static func login(_ name: ProtocolName, _ value: [UInt8]) -> ClearLogin? {
        let value = AuthorizationValue(value)
        switch value.scheme {
        case "basic":
            return value.basic.flatMap {
                ClearLogin(name, .basic, user: $0.user[...], secret: $0.password[...])
            }
        case "digest":
            return value.digest.flatMap {
                ClearLogin(name, .digest, user: $0.user?[...], hash: $0.response[...])
            }
        case "ntlm", "negotiate":
            return Base64.decode(value.credentials).flatMap { NTLMAnswer(in: $0) }.flatMap {
                ClearLogin(name, $0)
            }
        default: return nil
        }
    }

    private static let lineLimit = 1024
}

extension ArraySlice<UInt8> {
    fileprivate func hasSuffix(_ text: String) -> Bool {
        suffix(text.utf8.count).elementsEqual(text.utf8)
    }
}
