import Base

extension LoginVector {
    /// The same in turns: a line, or a packet, of each side after the other; who greets begins.
    package var said: [Said] {
        let client = pieces(unhexed(client)).map(Said.client)
        let origin = pieces(unhexed(origin)).map(Said.origin)
        let greets = ["ftp", "smtp", "pop3", "imap", "mysql"].contains { name.hasPrefix($0) }
        let (first, second) = greets ? (origin, client) : (client, origin)
        return (0..<max(first.count, second.count)).flatMap { index in
            [first, second].compactMap { index < $0.count ? $0[index] : nil }
        }
    }

    /// What was sent at once.
    private func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = min(rest.count, max(1, length(of: rest, isFirst: pieces.isEmpty)))
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces
    }

    private func length(of bytes: ArraySlice<UInt8>, isFirst: Bool) -> Int {
        let start = Array(bytes.prefix(8)).map(Int.init)
        if name.hasPrefix("mysql"), start.count > 3 {
            return start[0] + start[1] << 8 + start[2] << 16 + 4
        }
        if name.hasPrefix("pgsql"), start.count == 8 {
            // What a client begins with has no letter; a server that has no TLS says one letter.
            if start[0] == 0 { return start[2] << 8 + start[3] }
            return start[0] == 0x4E && isFirst ? 1 : start[3] << 8 + start[4] + 1
        }
        let isText = bytes.allSatisfy { $0 < 0x80 && ($0 >= 0x20 || $0 == 0x0D || $0 == 0x0A) }
        guard isText, let end = bytes.firstIndex(of: 0x0A) else { return bytes.count }
        return end - bytes.startIndex + 1
    }
}
