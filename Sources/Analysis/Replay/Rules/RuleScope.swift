internal import Base
internal import HTTPCodecs

/// Where a rule holds: `api.example`, `/orders/*`, `*.example:8443/v1/**`.
package struct RuleScope: Sendable, Hashable {
    /// A pattern for the host, with the port if it has one; empty for every host.
    private let host: String
    /// A pattern from the slash on: `*` stands for a segment or a part of it, `**` at the end for
    /// all that is below; empty for every path.
    package let path: String

    /// - Parameter path: as a request has it, without a query.
    package init(path: String) {
        host = ""
        self.path = path
    }

    /// Reads a scope; `nil` for an empty one.
    init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        let name = text.prefix { $0 != "/" }
        host = name.lowercased()
        path = String(text[name.endIndex...])
    }

    package var text: String { host + path }

    /// - Parameters:
    ///   - authority: with a port if it is not the scheme's own.
    ///   - path: without a query.
    func covers(_ authority: String, _ path: String) -> Bool {
        if !host.isEmpty, !Glob.matches(authority.lowercased(), host) {
            // A host without a port is meant with any.
            guard let (name, _) = HostField.parse(Array(authority.utf8)[...]),
                Glob.matches(name, host)
            else { return false }
        }
        return self.path.isEmpty || Self.matches(path, self.path)
    }

    private static func matches(_ path: String, _ pattern: String) -> Bool {
        var segments = path.split(separator: "/", omittingEmptySubsequences: false)[...]
        var patterns = pattern.split(separator: "/", omittingEmptySubsequences: false)[...]
        while let wanted = patterns.popFirst() {
            if wanted == "**", patterns.isEmpty { return true }
            guard let segment = segments.popFirst(), Glob.matches(String(segment), String(wanted))
            else { return false }
        }
        return segments.isEmpty
    }
}
