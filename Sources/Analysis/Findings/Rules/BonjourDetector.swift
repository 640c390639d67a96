internal import Base
internal import DNS
internal import Traffic

/// LAN-MDNS: kinds of services that a client looks for or offers on the local network.
enum BonjourDetector {
    static func examine(_ connection: ConnectionRecord, _ view: MessageView?) -> [RuleMatch] {
        guard connection.protocolName == "mdns", let view else { return [] }
        var types: [[UInt8]] = []
        var enumerates = false
        for name in NamesAsked(view, withAnswers: true).names {
            guard let type = serviceType(name) else { continue }
            if type.starts(with: "_dns-sd.".utf8) {
                enumerates = true
            } else if !types.contains(type), types.count < typeLimit {
                types.append(type)
            }
        }
        var found = types.map { match(.medium, $0) }
        if enumerates {
            // In packets of a whole network any system may have asked.
            var result = match(connection.isImported ? .medium : .high, Array("_dns-sd._udp".utf8))
            result.notes = [.network(.enumeratesServices)]
            found.append(result)
        }
        return found
    }

    private static func match(_ severity: Severity, _ type: [UInt8]) -> RuleMatch {
        var result = RuleMatch(.bonjour, severity, .certain)
        result.place = .service
        result.container = .dialogue
        result.name = type
        return result
    }

    /// The labels `_ipp._tcp` of a name that ends with them and `local` (RFC 6763 §7).
    private static func serviceType(_ name: DNSName) -> [UInt8]? {
        let labels = name.labels.suffix(3).map { $0.map(\.asciiLowercased) }
        guard labels.count == 3, labels[2] == Array("local".utf8),
            labels[1] == Array("_tcp".utf8) || labels[1] == Array("_udp".utf8),
            labels[0].first == 0x5F, labels[0].count <= 16
        else { return nil }
        return labels[0] + [0x2E] + labels[1]
    }

    /// How many of one client are told.
    private static let typeLimit = 16
}

extension RuleText {
    static let bonjour = RuleText(
        title: "Services looked for or offered by Bonjour",
        reason:
            "which devices somebody has at home identifies and describes the user; whoever lists all"
            + " services asks for more than it can need",
        advice:
            "look for the one kind of service that is needed, and declare it (NSBonjourServices)",
        decision:
            "A question or a record that the client sent by multicast DNS (RFC 6762) names a kind of"
            + " service; _services._dns-sd._udp lists all kinds (RFC 6763 §9) and is high where the"
            + " client alone was recorded.",
        exceptions:
            "Answers of others are not judged. In packets of a whole network, each sender is a"
            + " client, and systems ask by themselves.",
        worst: .high,
        weaknesses: [])
}
