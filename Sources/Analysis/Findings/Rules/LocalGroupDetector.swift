internal import Base
internal import Traffic

/// LAN-MCAST: datagrams to everybody on the local network.
enum LocalGroupDetector {
    static func examine(_ connection: ConnectionRecord) -> [RuleMatch] {
        guard !connection.isNetworkUpkeep, AddressScope(connection.host) == .group else {
            return []
        }
        var result = RuleMatch(.localGroup, .medium, .certain)
        result.place = .service
        return [result]
    }
}

extension RuleText {
    static let localGroup = RuleText(
        title: "Datagrams to everybody on the local network",
        reason:
            "every host on the network learns what is asked or told, and who answers tells what is"
            + " there; systems demand a right for it",
        advice: "let the system's own discovery (Bonjour) look for services, or leave it",
        decision:
            "The destination is a group (224.0.0.0/4, ff00::/8) or the broadcast address"
            + " 255.255.255.255 (RFC 1112 §4, RFC 4291 §2.7, RFC 919 §7).",
        exceptions:
            "What networks themselves need: DHCP, NTP, mDNS, which has a rule of its own, LLMNR and"
            + " NetBIOS, ICMP and IGMP. Broadcasts of one subnet are not told from hosts. In packets"
            + " of a whole network, the sender may be another device.",
        worst: .medium,
        weaknesses: [])
}
