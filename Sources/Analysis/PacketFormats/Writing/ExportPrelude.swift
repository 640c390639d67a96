internal import Base
internal import Traffic

/// Gathers what has to stand before the packets: the secrets, and the names of addresses.
struct ExportPrelude {
    private let hasSecrets: Bool
    private var secrets: [UInt8] = []
    private var names: [(address: [UInt8], name: String)] = []
    private var seen: Set<[UInt8]> = []

    /// In bytes, of a block of secrets.
    private static let secretsLimit = 256 << 10
    private static let namesLimit = 1000
    /// Names: what was told before may be told once more.
    private static let seenLimit = 50_000

    init(hasSecrets: Bool) {
        self.hasSecrets = hasSecrets
    }

    mutating func add(_ record: ConnectionRecord, to file: inout PacketFileWriter) throws {
        if hasSecrets {
            for line in (record.clientTLS?.keyLog ?? []) + (record.originTLS?.keyLog ?? []) {
                secrets += [UInt8](line.utf8) + [0x0A]
            }
        }
        let name = record.clientTLS?.sni ?? record.originTLS?.sni ?? record.originHost
        if let address = record.originAddress.flatMap(PacketEndpoint.init(text:))?.address,
            !name.isEmpty, PacketEndpoint.address(name) == nil, !name.utf8.contains(0)
        {
            if seen.count > Self.seenLimit { seen = [] }
            if seen.insert(address + [UInt8](name.utf8)).inserted {
                names.append((address, name))
            }
        }
        if secrets.count > Self.secretsLimit || names.count > Self.namesLimit {
            try finish(&file)
        }
    }

    mutating func finish(_ file: inout PacketFileWriter) throws {
        if !secrets.isEmpty { try file.addSecrets(secrets) }
        if !names.isEmpty { try file.addNames(names) }
        secrets = []
        names = []
    }
}
