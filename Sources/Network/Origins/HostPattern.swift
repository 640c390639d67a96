internal import Sockets

/// Hosts as a user names them: `example.com`, `*.example.com` for all below it, or `*`.
package struct HostPattern: Sendable, Equatable {
    /// As it was written, in lower case, without the root's dot and without brackets.
    package let text: String
    private let suffix: String?

    /// - Returns: `nil` for what no host can match: a `*` elsewhere, an empty label, a port or a URL.
    package init?(_ text: String) {
        var text = text.lowercased()
        if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
        guard text != "*." else { return nil }
        text = Self.canonical(text)
        self.text = text
        if text == "*" {
            suffix = ""
            return
        }
        let name = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
        suffix = name.startIndex == text.startIndex ? nil : String(text.dropFirst())
        let isAddress = suffix == nil && SocketAddress(literal: text, port: 0) != nil
        guard isAddress || Self.isName(name) else { return nil }
    }

    /// Whether it is one address, and no name.
    package var isAddress: Bool { suffix == nil && SocketAddress(literal: text, port: 0) != nil }

    /// - Parameter host: a name or an address without brackets, in any case.
    package func matches(_ host: String) -> Bool {
        matches(canonical: Self.canonical(host.lowercased()))
    }

    /// - Parameter host: as `canonical` has it.
    package func matches(canonical host: String) -> Bool {
        guard let suffix else { return host == text }
        return suffix.isEmpty || host.hasSuffix(suffix) && host.utf8.count > suffix.utf8.count
    }

    /// One spelling of a name in lower case: `example.com.` is `example.com`.
    package static func canonical(_ host: String) -> String {
        host.utf8.last == 0x2E ? String(host.dropLast()) : host
    }

    private static func isName(_ name: Substring) -> Bool {
        name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty && label.utf8.allSatisfy { $0 > 0x20 && !"*/:@?#[]".utf8.contains($0) }
        }
    }
}
