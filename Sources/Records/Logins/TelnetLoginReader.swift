internal import Base

/// Telnet, rlogin and what else is a terminal: what is typed at the prompts for a name and a password
/// (RFC 854).
enum TelnetLoginReader {
    /// Whether a side begins with a command, or a negotiation.
    static func begins(_ side: [UInt8]) -> Bool {
        side.count > 1 && side[0] == 0xFF && (0xF0...0xFE).contains(side[1])
    }

    /// - Parameters:
    ///   - user: who logs in if no name is asked for.
    ///   - needsEcho: whether the name has to come back, because nothing else tells what is spoken.
    static func logins(
        _ protocolName: ProtocolName = .telnet, user: ArraySlice<UInt8>? = nil, client: [UInt8],
        origin: [UInt8], needsEcho: Bool = false
    ) -> [ClearLogin] {
        let shown = text(origin).lowercasedBytes
        guard let password = prompt(passwords, shown) else { return [] }
        let name = prompt(names, shown).flatMap { $0.lowerBound < password.lowerBound ? $0 : nil }
        let lines = typed(text(client))
        if needsEcho {
            guard let name, let line = lines.first, isEcho(line, shown, behind: name) else {
                return []
            }
        }
        // Where no name is asked for, what came back was no password.
        let before = Array(shown[..<password.lowerBound])
        let secret =
            name == nil
            ? lines.first { !$0.isEmpty && !before.contains(run: $0.lowercasedBytes) }
            : lines.dropFirst().first
        let login = secret.flatMap {
            ClearLogin(
                protocolName, .typed, user: name == nil ? user : lines.first?[...],
                secret: $0[...])
        }
        return login.map { [$0] } ?? []
    }

    /// Whether a line that was typed stands in what was shown, right behind the prompt.
    private static func isEcho(_ line: [UInt8], _ shown: [UInt8], behind prompt: Range<Int>) -> Bool
    {
        let rest = shown[prompt.upperBound...].drop { $0 == 0x20 }
        let line = line.lowercasedBytes
        return !line.isEmpty && rest.starts(with: line)
            && [0x0A, 0x0D].contains(rest.dropFirst(line.count).first)
    }

    /// Where one of the words first stands.
    private static func prompt(_ words: [[UInt8]], _ shown: [UInt8]) -> Range<Int>? {
        words.compactMap { word in
            shown.firstIndex(ofRun: word, from: 0).map { $0..<$0 + word.count }
        }.min { $0.lowerBound < $1.lowerBound }
    }

    /// Without commands and negotiations.
    private static func text(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var index = 0
        while index < min(bytes.count, textLimit) {
            guard bytes[index] == 0xFF, index + 1 < bytes.count else {
                result.append(bytes[index])
                index += 1
                continue
            }
            switch bytes[index + 1] {
            case 0xFF:
                result.append(0xFF)
                index += 2
            case 0xFB...0xFE: index += 3
            case 0xFA:
                let end = bytes.firstIndex(ofRun: [0xFF, 0xF0], from: index)
                index = end.map { $0 + 2 } ?? bytes.count
            default: index += 2
            }
        }
        return result
    }

    /// The lines that were typed, as they were when their ends were.
    private static func typed(_ bytes: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var line: [UInt8] = []
        var last: UInt8 = 0
        for byte in bytes where lines.count < 8 {
            defer { last = byte }
            switch byte {
            case 0x0A where last == 0x0D, 0x00: break
            case 0x0A, 0x0D:
                lines.append(line)
                line = []
            case 0x08, 0x7F: _ = line.popLast()
            case 0x15: line = []
            default: line.append(byte)
            }
        }
        return lines
    }

    private static let names = ["login:", "username:", "user name:", "account:"].map {
        Array($0.utf8)
    }
    private static let passwords = ["password:", "passcode:", "passphrase:"].map { Array($0.utf8) }
    /// In bytes: logins stand at the beginning.
    static let textLimit = 16_384
}
