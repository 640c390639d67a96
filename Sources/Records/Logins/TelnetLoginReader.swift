internal import Base

/// Telnet: what is typed at the prompts for a name and a password (RFC 854).
enum TelnetLoginReader {
    static func logins(client: [UInt8], origin: [UInt8]) -> [ClearLogin] {
        let shown = text(origin).lowercasedBytes
        let asked = prompts(shown)
        guard let first = asked.first else { return [] }
        let lines = typed(text(client))
        var found: [ClearLogin] = []
        var user: ArraySlice<UInt8>?
        if !first.isPassword, asked.count < 2 { return [] }
        for (prompt, line) in zip(asked, lines) {
            if !prompt.isPassword {
                user = line[...]
            } else if let login = ClearLogin(.telnet, .typed, user: user, secret: line[...]) {
                found.append(login)
                break
            }
        }
        return found
    }

    private struct Prompt {
        let isPassword: Bool
        let place: Int
    }

    /// Where a name or a password is asked for, up to the first password.
    private static func prompts(_ shown: [UInt8]) -> [Prompt] {
        var found: [Prompt] = []
        for (words, isPassword) in [(names, false), (passwords, true)] {
            let places = words.compactMap { shown.firstIndex(ofRun: $0, from: 0) }
            if let place = places.min() {
                found.append(Prompt(isPassword: isPassword, place: place))
            }
        }
        return found.sorted { $0.place < $1.place }
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
    private static let textLimit = 16_384
}
