internal import Base

/// memcached: SASL's PLAIN in the binary protocol, and in that of text what the server takes for a
/// name and a password (protocol.txt, Authentication).
enum MemcachedLoginReader {
    /// A command to store something logs in by its data alone: it is known by what the origin says
    /// of it, or by its key if it is the first.
    static func textLogins(client: [UInt8], origin: [UInt8]) -> [ClearLogin] {
        var cursor = ByteCursor(client[...])
        var found: [ClearLogin] = []
        let refusals = origin.prefix(4096).split(separator: 0x0A).prefix {
            $0.starts(with: "CLIENT_ERROR ".utf8)
        }
        let failed = refusals.count { $0.starts(with: "CLIENT_ERROR authentication fail".utf8) }
        while found.count <= failed, found.count < ClearLogin.countLimit,
            let line = cursor.line()
        {
            let words = line.split(separator: 0x20, maxSplits: 6)
            guard (5...6).contains(words.count), words[0].elementsEqual("set".utf8),
                let size = decimal(words[4]), size <= 1024
            else { continue }
            guard let data = cursor.bytes(Int(size)), let space = data.firstIndex(of: 0x20),
                cursor.bytes(2)?.elementsEqual([0x0D, 0x0A]) == true,
                !refusals.isEmpty || isLogin(words, data),
                var login = ClearLogin(
                    .memcached, .set, user: data[..<space], secret: data[(space + 1)...])
            else { break }
            login.answer =
                found.count < failed
                ? .rejected : origin.contains(run: Array("STORED".utf8)) ? .accepted : nil
            found.append(login)
        }
        return found
    }

    /// Whether it can be nothing else: a key named for it, no flags, no end, and two words.
    private static func isLogin(_ words: [ArraySlice<UInt8>], _ data: ArraySlice<UInt8>) -> Bool {
        keys.contains(words[1].text) && words[2...3].allSatisfy { $0.elementsEqual([0x30]) }
            && data.count { $0 == 0x20 } == 1
    }

    private static let keys: Set = ["auth", "authenticate", "authentication"]

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
