internal import Base
internal import Launching
internal import Origins
internal import Sockets

/// What a command's programs sent past the proxy, judged.
struct PastConnections {
    private let isWatched: Bool
    private let all: [PastWatch.Connections]
    private let expected: [PastPattern]
    private let countsLoopback: Bool

    /// - Parameters:
    ///   - seen: `nil` if the system did not tell.
    ///   - expected: what leaves the verdict alone.
    ///   - countsLoopback: whether what stays on this machine stands for what does not.
    ///   - origins: where the proxy's own connections went, as far as those are known that ended too
    ///     soon to tell whose they were.
    init(
        _ seen: [PastWatch.Connections]?, expected: [PastPattern], countsLoopback: Bool,
        origins: Set<String>
    ) {
        self.countsLoopback = countsLoopback
        isWatched = seen != nil
        self.expected = expected
        all = (seen ?? []).filter {
            $0.program != nil || !origins.contains($0.remote.description)
        }
    }

    /// Whether nobody on a network could see it.
    private func isLeftAlone(_ connections: PastWatch.Connections) -> Bool {
        connections.isLocal && !countsLoopback
    }

    private func isExpected(_ connections: PastWatch.Connections) -> Bool {
        expected.contains {
            $0.matches(connections.remote.host, connections.remote.port)
        }
    }

    /// The reason why a verdict cannot be clean, `nil` if there is none.
    ///
    /// What ended too soon to tell whose it was may have been the command's; what is known to be
    /// somebody else's is not among them.
    var wentPast: String? {
        let counted = all.filter { !isLeftAlone($0) && !isExpected($0) }
        guard !counted.isEmpty else { return nil }
        let (told, untold) = (
            counted.filter { $0.program != nil }, counted.filter { $0.program == nil }
        )
        let parts = [
            told.isEmpty ? nil : Self.text(told, "went past, to"),
            untold.isEmpty
                ? nil : Self.text(untold, "ended too soon to tell whose it was, to"),
        ]
        return "only what heeds the proxy variables was seen: "
            + parts.compactMap { $0 }.joined(separator: "; ")
    }

    /// What is seen and does not count, and what could be missed.
    var lines: [String] {
        guard isWatched else { return ["what went past the proxy could not be looked at here"] }
        var lines: [String] = []
        let local = all.filter(isLeftAlone)
        if !local.isEmpty {
            lines.append(Self.text(local, "went past the proxy and stayed on this machine, to"))
        }
        let known = all.filter { !isLeftAlone($0) && isExpected($0) }
        if !known.isEmpty { lines.append(Self.text(known, "went past the proxy as expected, to")) }
        if wentPast == nil {
            lines.append(
                "no \(lines.isEmpty ? "" : "other ")connection past the proxy was seen; UDP and"
                    + " what lasts a few milliseconds may be missed: --capture-all leaves no way past"
            )
        }
        return lines
    }

    private static func text(_ connections: [PastWatch.Connections], _ words: String) -> String {
        let count = connections.reduce(0) { $0 + $1.count }
        var places = connections.prefix(placeLimit).map { item in
            item.remote.description + (item.program.map { " (\($0))" } ?? "")
        }
        let more = connections.count - places.count
        if more > 0 { places.append("and \(more) places more") }
        return "\(count == 1 ? "1 connection" : "\(count) connections") \(words)"
            + " \(places.joined(separator: ", "))"
    }

    var json: JSONText {
        [
            "watched": .boolean(isWatched),
            "connections": .array(
                all.map { item in
                    [
                        "address": .string(item.remote.host),
                        "port": .integer(Int64(item.remote.port)),
                        "program": .optional(item.program),
                        "count": .integer(Int64(item.count)),
                        "local": .boolean(item.isLocal),
                        "expected": .boolean(isExpected(item)),
                    ]
                }),
        ]
    }

    /// Nobody reads more; the report for programs has all.
    private static let placeLimit = 8
}

/// Connections past the proxy that are meant to be: `10.0.0.7`, `10.0.0.7:5432`, `*:5432` or `*`.
package struct PastPattern: Sendable {
    private let host: HostPattern
    private let port: UInt16?

    package init?(_ text: String) {
        let colon = text.lastIndex(of: ":")
        let before = colon.map { String(text[..<$0]) } ?? ""
        // Of an IPv6 address without a port, each colon is the address's own.
        let hasPort = !before.isEmpty && (!before.contains(":") || before.hasSuffix("]"))
        port = hasPort ? colon.flatMap { UInt16(text[text.index(after: $0)...]) } : nil
        guard !hasPort || port != nil, let host = HostPattern(hasPort ? before : text),
            host.isAddress || host.text == "*"
        else { return nil }
        self.host = host
    }

    func matches(_ address: String, _ port: UInt16) -> Bool {
        host.matches(address) && (self.port == nil || self.port == port)
    }
}
