internal import Base
internal import DNS
internal import Traffic

/// META-CLEAR: names that anybody on the path sees, one finding a run.
struct ClearNamesDetector {
    private var channels: [NameChannel: Names] = [:]
    private var firstSeen: Timestamp?

    private struct Names {
        var shown: [ServiceName] = []
        /// Hashes under the process's random key: they tell names apart, and nothing else.
        var seen: Set<Int> = []
    }

    /// Of each channel: names that are told, and that are counted.
    private static let shownLimit = 8
    private static let countLimit = 4096

    mutating func examine(
        _ connection: ConnectionRecord, _ view: MessageView?, _ redaction: EvidenceRedaction
    ) {
        if let name = connection.clientTLS?.sni, !name.isEmpty {
            add(HostName(name).bytes, .serverName, connection, redaction)
        }
        guard let channel = NameChannel(rawValue: connection.protocolName), let view, view.isClear
        else { return }
        for name in NamesAsked(view, withAnswers: false).names {
            let bytes = channel == .nbns ? name.netBIOSName : name.lowercasedBytes
            if let bytes, !bytes.isEmpty { add(bytes, channel, connection, redaction) }
        }
    }

    private mutating func add(
        _ name: [UInt8], _ channel: NameChannel, _ connection: ConnectionRecord,
        _ redaction: EvidenceRedaction
    ) {
        var names = channels[channel, default: Names()]
        guard names.seen.count < Self.countLimit, names.seen.insert(name.hashValue).inserted else {
            return
        }
        if names.shown.count < Self.shownLimit {
            names.shown.append(ServiceName(host: name, redaction: redaction))
        }
        channels[channel] = names
        if firstSeen == nil { firstSeen = connection.openedAt }
    }

    /// Every connection of TLS has a name in its ClientHello: that alone is nothing to tell.
    func finish() -> [LateMatch] {
        guard let firstSeen, channels.keys.contains(where: { $0 != .serverName }) else {
            return []
        }
        var match = LateMatch(.namesInClear, .info, .certain, at: .ofRun(at: firstSeen))
        match.notes = NameChannel.allCases.compactMap { channel in
            channels[channel].map {
                .network(.namesSeen(channel, $0.shown, count: $0.seen.count))
            }
        }
        return [match]
    }
}

/// Where names pass in clear; the raw values are a contract.
package enum NameChannel: String, Sendable, CaseIterable {
    case dns
    case serverName = "sni"
    case mdns
    case llmnr
    case nbns

    var text: String {
        switch self {
        case .dns: "DNS"
        case .serverName: "SNI"
        case .mdns: "mDNS"
        case .llmnr: "LLMNR"
        case .nbns: "NetBIOS"
        }
    }
}

extension RuleText {
    static let namesInClear = RuleText(
        title: "Names that anybody on the path sees",
        reason: "who watches a network learns which services are used, and when, despite TLS",
        advice: "use DNS over HTTPS or TLS, and Encrypted ClientHello where the server offers it",
        decision:
            "Names were asked for in DNS, mDNS, LLMNR or NetBIOS without encryption; those that stood"
            + " in ClientHellos (RFC 6066 §3) are told beside them. One finding tells the whole run.",
        exceptions:
            "It is how the Internet mostly works, and never more than info. With Encrypted ClientHello"
            + " (RFC 9849) the name that is seen is the provider's.",
        worst: .info,
        weaknesses: [200])
}
