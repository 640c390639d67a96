internal import Base
internal import Glibc

/// The files by which a confined command finds addresses for names, as it is to see them: a name that
/// the system knows by itself would lead it to an address without a name, and past who serves names.
enum HostTable {
    /// The system's table of hosts without the names that are to be asked for; `nil` if it has none of
    /// them.
    ///
    /// What stands for this machine stays: servers inside are reached by it.
    ///
    /// - Parameters:
    ///   - ownName: what this machine is called.
    ///   - leads: whether a name that stands for loopback is to be asked for as well.
    static func confined(
        _ bytes: [UInt8], ownName: String, leads: (_ name: String) -> Bool
    ) -> [UInt8]? {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        var hasChanged = false
        let kept = lines.compactMap { line -> [UInt8]? in
            let words = line.prefix { $0 != UInt8(ascii: "#") }
                .split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
                .map { String(decoding: $0, as: UTF8.self) }
            guard let address = words.first, words.count > 1 else { return Array(line) }
            let names = words.dropFirst()
            let isHere = isOfThisMachine(address, names, ownName)
            let left = names.filter { isLocalhost($0) || isHere && !leads($0.lowercased()) }
            if left.count == names.count { return Array(line) }
            hasChanged = true
            return left.isEmpty ? nil : Array("\(address) \(left.joined(separator: " "))".utf8)
        }
        return hasChanged ? Array(kept.joined(separator: [0x0A])) : nil
    }

    /// The order of sources for names (nsswitch.conf(5)) without those that are asked by other ways
    /// than the network; `nil` if it has none of them.
    static func confinedSources(_ bytes: [UInt8]) -> [UInt8]? {
        var hasChanged = false
        let lines = String(decoding: bytes, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .map { line -> String in
                let rule = line.prefix { $0 != "#" }
                guard let colon = rule.firstIndex(of: ":"),
                    rule[..<colon].allSatisfy({ !$0.isWhitespace }), rule[..<colon] == "hosts"
                else { return String(line) }
                let sources = rule[rule.index(after: colon)...].split(
                    whereSeparator: \.isWhitespace)
                guard sources.contains(where: { !networkSources.contains(String($0)) }) else {
                    return String(line)
                }
                hasChanged = true
                let kept = sources.filter { networkSources.contains(String($0)) }
                return "hosts: "
                    + (kept.contains("dns") ? kept : kept + ["dns"]).joined(separator: " ")
            }
        return hasChanged ? Array(lines.joined(separator: "\n").utf8) : nil
    }

    /// `files` is the table, `myhostname` says what this machine is called.
    private static let networkSources: Set<String> = ["files", "dns", "myhostname"]

    private static func isOfThisMachine(
        _ address: String, _ names: ArraySlice<String>, _ ownName: String
    ) -> Bool {
        if isLocal(address) { return true }
        let own = ownName.lowercased()
        let label = own.prefix { $0 != "." }
        return names.contains { $0.lowercased() == own || $0.lowercased() == label }
    }

    /// Loopback, no address at all, which stands for the same, and groups of machines on the link.
    private static func isLocal(_ address: String) -> Bool {
        var four = in_addr()
        if unsafe inet_pton(AF_INET, address, &four) == 1 {
            let first = UInt32(bigEndian: four.s_addr) >> 24
            return first == 127 || first == 0 || first >= 224
        }
        var six = in6_addr()
        let text = address.prefix { $0 != "%" }
        guard unsafe inet_pton(AF_INET6, String(text), &six) == 1 else { return true }
        let bytes = unsafe withUnsafeBytes(of: &six) { unsafe Array($0) }
        let isLinkLocal = bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
        return bytes[0] == 0xFF || isLinkLocal
            || bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] <= 1
    }

    /// RFC 6761 §6.3, and what systems call loopback besides.
    private static func isLocalhost(_ name: String) -> Bool {
        let name = name.lowercased()
        return LoopbackHost.isName(name)
            || [
                "localhost.localdomain", "localhost4", "localhost6", "localhost4.localdomain4",
                "localhost6.localdomain6", "ip6-localhost", "ip6-loopback", "loopback",
                "broadcasthost",
            ].contains(name)
    }
}
