internal import Base

/// Secrets of TLS connections by the client's random (draft-ietf-tls-keylogfile).
package struct KeyLog: Sendable {
    private var secrets: [Key: [UInt8]] = [:]
    /// The randoms in the order that they first came in.
    package private(set) var randoms: [[UInt8]] = []

    private struct Key: Hashable, Sendable {
        let random: [UInt8]
        let label: KeyLabel
    }

    package init() {}

    package init(lines: [String]) {
        for line in lines { add(line: line) }
    }

    /// Reads the text of a key log: what is no line of it is passed over.
    package init(text: [UInt8]) {
        self.init()
        add(text: text)
    }

    package mutating func add(text: [UInt8]) {
        for line in text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            add(line: line.text)
        }
    }

    package mutating func add(line: String) {
        let words = line.split(separator: " ")
        guard words.count == 3, let label = KeyLabel(rawValue: String(words[0])),
            let random = bytes(fromHex: words[1]), random.count == 32,
            let secret = bytes(fromHex: words[2]), !secret.isEmpty, randoms.count < Self.limit
        else { return }
        if !KeyLabel.allCases.contains(where: { secrets[Key(random: random, label: $0)] != nil }) {
            randoms.append(random)
        }
        secrets[Key(random: random, label: label)] = secret
    }

    package func secret(_ label: KeyLabel, random: [UInt8]) -> [UInt8]? {
        secrets[Key(random: random, label: label)]
    }

    /// The lines that tell of one connection.
    func lines(random: [UInt8]) -> [String] {
        KeyLabel.allCases.compactMap { label in
            secret(label, random: random).map { "\(label.rawValue) \(random.hex) \($0.hex)" }
        }
    }

    /// Connections: about 2 KB each.
    private static let limit = 1 << 20
}

/// What a line of a key log tells.
package enum KeyLabel: String, Sendable, CaseIterable {
    /// The master secret of a connection of TLS 1.2 or older.
    case master = "CLIENT_RANDOM"
    case clientHandshake = "CLIENT_HANDSHAKE_TRAFFIC_SECRET"
    case serverHandshake = "SERVER_HANDSHAKE_TRAFFIC_SECRET"
    case client = "CLIENT_TRAFFIC_SECRET_0"
    case server = "SERVER_TRAFFIC_SECRET_0"
}
