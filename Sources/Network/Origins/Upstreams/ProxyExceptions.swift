internal import Base
internal import Sockets

/// The hosts that no proxy is used for, as `NO_PROXY` lists them: names with all below them,
/// addresses, networks in CIDR, each with or without a port, or `*` for all.
package struct ProxyExceptions: Sendable, Equatable {
    private struct Entry: Equatable {
        enum Hosts: Equatable {
            case all
            /// The name itself and those below it.
            case name(String)
            /// Those below it alone, with the dot.
            case below(String)
            /// Addresses of which so many first bits are these.
            case network([UInt8], bitCount: Int)
        }

        let hosts: Hosts
        /// `nil` for any.
        let port: UInt16?
    }

    private let entries: [Entry]

    package static let none = ProxyExceptions("")

    /// Reads a list with commas or spaces between its entries; what is none is passed over, as all
    /// programs that read the variable do.
    package init(_ list: String) {
        entries = list.split { $0 == "," || $0.isWhitespace }.prefix(Self.countLimit)
            .compactMap { Self.entry(String($0).lowercased()) }
    }

    /// - Parameter host: a name or an address, without brackets.
    package func include(_ host: String, _ port: UInt16) -> Bool {
        guard !entries.isEmpty else { return false }
        let name = HostPattern.canonical(host.lowercased())
        let address = SocketAddress(literal: name, port: port)?.address
        return entries.contains { entry in
            guard entry.port == nil || entry.port == port else { return false }
            switch entry.hosts {
            case .all: return true
            case .name(let text): return name == text || name.hasSuffix(".\(text)")
            case .below(let suffix): return name.hasSuffix(suffix)
            case .network(let prefix, let bitCount):
                return address.map { Self.isEqual($0, prefix, bitCount) } ?? false
            }
        }
    }

    private static func entry(_ text: String) -> Entry? {
        if text == "*" { return Entry(hosts: .all, port: nil) }
        if let network = network(text) { return Entry(hosts: network, port: nil) }
        if let place = HostPort(text), place.port != 0 {
            return hosts(place.host).map { Entry(hosts: $0, port: place.port) }
        }
        return hosts(text).map { Entry(hosts: $0, port: nil) }
    }

    private static func hosts(_ text: String) -> Entry.Hosts? {
        if let network = network(text) { return network }
        if text.hasPrefix("*.") { return .below(String(text.dropFirst())) }
        let name = HostPattern.canonical(text)
        if name.hasPrefix(".") { return name.utf8.count > 1 ? .below(name) : nil }
        return HostPattern(name).map { .name($0.text) }
    }

    /// An address, or a network: `10.0.0.0/8` (RFC 4632 §3.1).
    private static func network(_ text: String) -> Entry.Hosts? {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        var literal = String(parts[0])
        if literal.hasPrefix("["), literal.hasSuffix("]") {
            literal = String(literal.dropFirst().dropLast())
        }
        guard let address = SocketAddress(literal: literal, port: 0)?.address else { return nil }
        let all = address.count * 8
        guard parts.count == 2 else { return .network(address, bitCount: all) }
        guard let count = Int(parts[1]), (0...all).contains(count) else { return nil }
        return .network(address, bitCount: count)
    }

    private static func isEqual(_ left: [UInt8], _ right: [UInt8], _ bitCount: Int) -> Bool {
        guard left.count == right.count else { return false }
        let whole = bitCount / 8
        guard left[..<whole] == right[..<whole] else { return false }
        guard bitCount % 8 != 0 else { return true }
        let shift = 8 - bitCount % 8
        return left[whole] >> shift == right[whole] >> shift
    }

    /// Of entries: lists of companies have some dozen.
    private static let countLimit = 1024
}
