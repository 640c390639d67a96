internal import Base
internal import Traffic

/// LAN-DEST: a connection to a host of the local network.
enum LocalDestinationDetector {
    static func examine(_ connection: ConnectionRecord) -> [RuleMatch] {
        // A reverse proxy's origin is what its user asked for.
        guard connection.mode != .reverse, !connection.isNetworkUpkeep,
            let scope = scope(of: connection), scope.isNearby
        else { return [] }
        var result = RuleMatch(.localDestination, .medium, .certain)
        result.place = .service
        result.notes = [.network(.reaches(scope))]
        return [result]
    }

    private static func scope(of connection: ConnectionRecord) -> AddressScope? {
        let host = connection.host
        if let scope = AddressScope(host) { return scope }
        if host.isLinkName { return .linkLocal }
        return connection.originAddress.flatMap { AddressScope(HostName($0)) }
    }
}

extension ConnectionRecord {
    /// Whether it is what every network needs to work: names, addresses and time.
    var isNetworkUpkeep: Bool {
        let names = ["dns", "dhcp", "ntp", "llmnr", "nbns", "netbios", "mdns"]
        return originPort == 53 || names.contains(protocolName)
    }
}

extension RuleText {
    static let localDestination = RuleText(
        title: "Connection to a host of the local network",
        reason:
            "what stands in a home or an office is found and reached that way, and systems ask their"
            + " users before an app may",
        advice: "leave it, or say to the user what is looked for and declare it"
            + " (NSLocalNetworkUsageDescription)",
        decision:
            "The address is private (RFC 1918, RFC 4193), of the local link (RFC 3927, RFC 4291) or"
            + " behind a provider's translation (RFC 6598), or the name ends with .local.",
        exceptions:
            "Names, addresses and time of the network itself (DNS, DHCP, NTP), and the origin of a"
            + " reverse proxy. A laboratory or a company may have its servers there.",
        worst: .medium,
        weaknesses: [])
}
