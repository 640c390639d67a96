internal import Base

/// PostgreSQL: the password that the origin has asked for (protocol 3.0, Message Flow, Start-up).
enum PostgreSQLLoginReader {
    static func logins(client: [UInt8], origin: [UInt8]) -> [ClearLogin] {
        var cursor = ByteCursor(client[...])
        var refusals = 0
        var startup: ArraySlice<UInt8>?
        while startup == nil {
            guard let length = cursor.number(4), (8...startupLimit).contains(length),
                let body = cursor.bytes(length - 4)
            else { return [] }
            switch Array(body.prefix(4)) {
            // SSLRequest and GSSENCRequest.
            case [0x04, 0xD2, 0x16, 0x2F], [0x04, 0xD2, 0x16, 0x30]: refusals += 1
            case let version where version.prefix(2).elementsEqual([0, 3]):
                startup = body.dropFirst(4)
            default: return []
            }
        }
        // What stands behind an agreement is TLS.
        guard origin.count >= refusals, origin.prefix(refusals).allSatisfy({ $0 == 0x4E }) else {
            return []
        }
        let user = parameter("user", in: startup ?? [])
        let asked = requests(origin.dropFirst(refusals))
        guard let kind = asked.first, cursor.number(1) == 0x70, let length = cursor.number(4),
            length >= 5, let message = cursor.bytes(length - 4)
        else { return [] }
        let login: ClearLogin? =
            switch kind {
            case 3:
                ClearLogin(.postgresql, .passwordMessage, user: user, secret: message.dropLast())
            case 5: ClearLogin(.postgresql, .passwordMD5, user: user, hash: message.dropLast())
            case 10: scram(user, message, &cursor)
            default: nil
            }
        return login.map { [$0] } ?? []
    }

    /// The second message of SCRAM proves the password.
    private static func scram(
        _ user: ArraySlice<UInt8>?, _ first: ArraySlice<UInt8>, _ cursor: inout ByteCursor
    ) -> ClearLogin? {
        guard first.starts(with: "SCRAM-".utf8), cursor.number(1) == 0x70,
            let length = cursor.number(4), length >= 5, let proof = cursor.bytes(length - 4)
        else { return nil }
        return ClearLogin(.postgresql, .scram, user: user, hash: proof)
    }

    /// What the origin asks for: the codes of its authentication messages but for those that end
    /// or go on with one.
    private static func requests(_ origin: ArraySlice<UInt8>) -> [Int] {
        var cursor = ByteCursor(origin)
        var codes: [Int] = []
        while codes.count < 4, cursor.number(1) == 0x52, let length = cursor.number(4),
            length >= 8, let body = cursor.bytes(length - 4)
        {
            var body = ByteCursor(body)
            if let code = body.number(4), code != 0, code < 11 { codes.append(code) }
        }
        return codes
    }

    private static func parameter(
        _ name: String, in startup: ArraySlice<UInt8>
    ) -> ArraySlice<UInt8>? {
        let parts = startup.split(separator: 0, omittingEmptySubsequences: false)
        for index in stride(from: 0, to: parts.count - 1, by: 2)
        where parts[index].elementsEqual(name.utf8) {
            return parts[index + 1]
        }
        return nil
    }

    /// In bytes.
    private static let startupLimit = 10_000
}
