internal import Base
internal import Formats
internal import Traffic

/// Counts the packets that are not read, by their kind, so that a capture tells of them.
struct UnreadPackets {
    private var kinds: [Kind: Entry] = [:]

    fileprivate enum Kind: Hashable {
        case linkType(UInt16)
        case carried(UInt8)
        case cut
        case overlap
        case unfinished
    }

    private struct Entry {
        var count = 0
        let at: Timestamp
        var ends: (source: PacketEndpoint, target: PacketEndpoint)?
    }

    /// Protocols of IP by which networks find their ways, and which say nothing of what a program
    /// does: ICMP, IGMP, routing, redundancy (IANA, Protocol Numbers).
    private static let upkeep: Set<UInt8> = [1, 2, 9, 58, 59, 88, 89, 103, 112]
    fileprivate static let names: [UInt8: String] = [
        47: "GRE", 50: "ESP", 51: "AH", 132: "SCTP", 136: "UDP-Lite", 33: "DCCP",
    ]

    mutating func count(_ refusal: PacketRefusal, at time: Timestamp) {
        switch refusal {
        case .linkType(let type): count(.linkType(type), time)
        case .cut: count(.cut, time)
        case .overlap: count(.overlap, time)
        case .notIP: break
        case .unread(let number, let source, let target):
            guard !Self.upkeep.contains(number) else { return }
            count(.carried(number), time, (source, target))
        }
    }

    mutating func count(unfinished: Int, at time: Timestamp) {
        guard unfinished > 0 else { return }
        kinds[.unfinished] = Entry(count: unfinished, at: time)
    }

    private mutating func count(
        _ kind: Kind, _ time: Timestamp,
        _ ends: (source: PacketEndpoint, target: PacketEndpoint)? = nil
    ) {
        kinds[kind, default: Entry(at: time, ends: ends)].count += 1
    }

    /// Writes a record for each kind, in the order in which they were met.
    func finish(_ writer: ImportWriter) {
        let met = kinds.sorted {
            ($0.value.at.microseconds, $0.key.text) < ($1.value.at.microseconds, $1.key.text)
        }
        for (kind, entry) in met {
            var record = ConnectionRecord(
                id: writer.makeConnectionNumber(), openedAt: entry.at,
                client: entry.ends?.source.host ?? "", listener: ConnectionRecord.packetListener,
                mode: .transparent)
            record.closedAt = entry.at
            record.originHost = entry.ends?.target.host ?? ""
            record.protocolName = kind.protocolName
            record.outcome = .passedThrough
            let packets = entry.count == 1 ? "1 packet" : "\(entry.count) packets"
            record.cause = "not read: \(packets) \(kind.text)"
            if kind.isIncomplete {
                record.notes.append(ConnectionNote(.packetsMissing, "\(packets) \(kind.text)"))
            }
            record.notes.append(.importedPackets)
            writer.write(.connection(record))
        }
    }
}

extension UnreadPackets.Kind {
    /// What is wrong with them, behind their number.
    fileprivate var text: String {
        switch self {
        case .linkType(let type): "of link type \(type)"
        case .carried(let number):
            "of \(UnreadPackets.names[number] ?? "IP protocol") (\(number))"
        case .cut: "cut short"
        case .overlap: "whose fragments overlap"
        case .unfinished: "whose fragments are missing"
        }
    }

    fileprivate var protocolName: String {
        switch self {
        case .carried(50): "esp"
        case .linkType: "link"
        default: "ip"
        }
    }

    /// Whether they would be read if they were whole.
    fileprivate var isIncomplete: Bool {
        switch self {
        case .cut, .overlap, .unfinished: true
        case .linkType, .carried: false
        }
    }
}
