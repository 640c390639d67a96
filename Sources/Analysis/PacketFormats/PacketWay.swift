internal import Base
internal import Traffic

/// How a client came to its origin, as an export of ours tells it in a comment of each connection's
/// first packet: by the packets alone, the proxy would be taken for the origin.
struct PacketWay: Equatable {
    let mode: ConnectionRecord.Mode
    /// `nil` if none was asked for.
    let origin: HostPort?
    /// Whether the client gave the proxy itself a password, which is not recorded.
    let hasLogin: Bool

    init(_ record: ConnectionRecord) {
        mode = record.mode
        let origin = HostPort(host: record.originHost, port: record.originPort)
        self.origin = origin.host.isEmpty ? nil : origin
        hasLogin = record.has(.proxyLogin)
    }

    /// - Returns: `nil` for a comment of another kind.
    init?(comment: String) {
        var parts = comment.split(separator: ", ")[...]
        guard let first = parts.popFirst(), first.hasPrefix(Self.start),
            let mode = ConnectionRecord.Mode(rawValue: String(first.dropFirst(Self.start.count)))
        else { return nil }
        self.mode = mode
        hasLogin = parts.last == Self.login[...]
        origin = parts.first.flatMap {
            $0.hasPrefix("to ") ? HostPort(String($0.dropFirst(3))) : nil
        }
    }

    var comment: String {
        let parts = [Self.start + mode.rawValue, origin.map { "to \($0)" }]
        return (parts + [hasLogin ? Self.login : nil]).compactMap(\.self).joined(separator: ", ")
    }

    private static let start = "came in by "
    private static let login = "with a password for the proxy"
}

extension ConnectionNote {
    static let proxyLogin = ConnectionNote(.proxyLogin, "the client gave the proxy a password")
}
