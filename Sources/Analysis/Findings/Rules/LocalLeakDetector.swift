internal import Base
internal import Contents

/// LAN-LEAK: what the local network looks like, told to a host elsewhere.
enum LocalLeakDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        examine(view.urlFields + view.bodyFields, to: view.host)
    }

    static func examine(_ fields: [MessageField], to host: HostName) -> [RuleMatch] {
        let scope = AddressScope(host)
        guard scope == nil || scope == .global, !host.isLinkName, !host.isLoopback else {
            return []
        }
        var found: [RuleMatch] = []
        for field in fields where found.count < countLimit {
            guard field.isScalar, field.container != .referer, let severity = judge(field) else {
                continue
            }
            var result = RuleMatch(.localLeak, severity, .tentative, field: field)
            if severity == .info { result.notes = [.network(.callCandidate)] }
            found.append(result)
        }
        return found
    }

    private static func judge(_ field: MessageField) -> Severity? {
        guard (5...valueLimit).contains(field.value.count), let first = field.value.first else {
            return nil
        }
        if first == UInt8(ascii: "c"), field.value.starts(with: "candidate:".utf8) {
            return namesNearby(candidate: field.value) ? .info : nil
        }
        if HostName.isLinkName(field.value) { return .low }
        // Names are taken apart for few values only.
        if first.hexDigitValue != nil, isAddressText(field.value) { return judge(address: field) }
        guard (4...keyLimit).contains(field.key.count),
            field.key.lowercasedBytes.contains(run: ssid),
            !NameWords(field.key[...]).texts.allSatisfy({ $0 != "ssid" && $0 != "bssid" })
        else { return nil }
        return Placeholder.matches(field.value) ? nil : .low
    }

    private static func judge(address field: MessageField) -> Severity? {
        guard let scope = AddressScope(HostName(field.value.text)),
            scope == .privateNetwork || scope == .linkLocal
        else { return nil }
        let words = Set(NameWords(field.key[...]).texts)
        guard words.isDisjoint(with: versions) else { return nil }
        // Numbers of versions look like it.
        let needsHint = field.value.starts(with: "10.".utf8)
        return needsHint && words.isDisjoint(with: hints) ? nil : .low
    }

    private static func isAddressText(_ value: [UInt8]) -> Bool {
        value.count >= 7 && value.count <= 45 && (value.contains(0x2E) || value.contains(0x3A))
            && value.allSatisfy { $0.hexDigitValue != nil || $0 == 0x2E || $0 == 0x3A }
    }

    /// The address of a candidate (RFC 8839 §5.1), which is its fifth word.
    private static func namesNearby(candidate: [UInt8]) -> Bool {
        let words = candidate.split(separator: 0x20, maxSplits: 6)
        guard words.count > 5 else { return false }
        let host = HostName(Array(words[4]).text)
        return AddressScope(host).map { $0 == .privateNetwork || $0 == .linkLocal } ?? false
    }

    private static let countLimit = 8
    private static let valueLimit = 512
    private static let keyLimit = 24
    private static let ssid = Array("ssid".utf8)
    private static let versions: Set<String> = ["version", "ver", "v", "build", "release"]
    private static let hints: Set<String> = [
        "ip", "ips", "ipv4", "lan", "local", "host", "addr", "address", "private", "internal",
        "gateway", "gw", "dns", "router", "net", "network", "wifi", "wlan", "interface", "client",
        "device", "server",
    ]
}

extension HostName {
    /// Whether a value is a name of the local link, and not one that hides an address
    /// (draft-ietf-mmusic-mdns-ice-candidates).
    fileprivate static func isLinkName(_ value: [UInt8]) -> Bool {
        guard value.count <= 64, value.suffix(6).elementsEqual(".local".utf8), value.count > 7
        else {
            return false
        }
        let label = value.dropLast(6)
        let isHidden = label.count == 36 && label.count { $0 == 0x2D } == 4
        return !isHidden
            && label.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == 0x2D || $0 == 0x2E }
    }
}

extension RuleText {
    static let localLeak = RuleText(
        title: "Local network described to a host elsewhere",
        reason: "addresses and names of a home or an office tell its devices and its place apart",
        advice: "leave the value out, or ask the user for it",
        decision:
            "A field of the URL or the content sent to a host elsewhere is a private address, a name"
            + " that ends with .local, also one that a name server is asked for, or is named like the name of a wireless network (SSID, BSSID).",
        exceptions:
            "Fields named like versions, an address of 10.0.0.0/8 in a field whose name says nothing"
            + " of an address, and names that hide an address. Candidates of a call (WebRTC) are info.",
        worst: .low,
        weaknesses: [200])
}
