internal import Base
internal import Negotiation

/// rlogin where a password is asked for (RFC 1282), and rexec, which begins with one (rexecd(8)).
///
/// rsh has the same form as rexec and no password: it names two users and is believed.
enum RemoteLoginReader {
    static func logins(_ head: RemoteHead, client: [UInt8], origin: [UInt8]) -> [ClearLogin] {
        if head.isTerminal {
            return TelnetLoginReader.logins(
                .rlogin, user: head.texts[1], client: withoutWindows(client.dropFirst(head.count)),
                origin: origin)
        }
        guard isPassword(head.texts, origin) else { return [] }
        let login = ClearLogin(
            .rexec, .userPassword, user: head.texts[0], secret: head.texts[1])
        return login.map { [$0] } ?? []
    }

    /// Whether the second text cannot be a user's name, or the answer tells of a password.
    private static func isPassword(_ texts: [ArraySlice<UInt8>], _ origin: [UInt8]) -> Bool {
        let answers = ["\u{1}Login incorrect", "\u{1}Password incorrect"]
        if answers.contains(where: { origin.starts(with: $0.utf8) }) { return true }
        let isName =
            texts[1].count <= 32
            && texts[1].allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || [0x2D, 0x2E, 0x40, 0x5C, 0x5F].contains($0)
            }
        return !isName && texts[0] != texts[1]
    }

    /// Without the sizes of windows that a client tells of (RFC 1282 §4).
    private static func withoutWindows(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let rest = Array(bytes.prefix(TelnetLoginReader.textLimit))
        var result: [UInt8] = []
        var start = 0
        while let place = rest.firstIndex(ofRun: [0xFF, 0xFF, 0x73, 0x73], from: start) {
            result += rest[start..<place]
            start = min(rest.count, place + 12)
        }
        return result + rest[start...]
    }
}
