/// Hosts as a user names them: `example.com`, `*.example.com` for all below it, or `*`.
package struct HostPattern: Sendable, Equatable {
    /// As it was written, in lower case.
    package let text: String
    private let suffix: String?

    /// - Returns: `nil` for a pattern with a `*` elsewhere, or without a name.
    package init?(_ text: String) {
        let text = text.lowercased()
        self.text = text
        if text == "*" {
            suffix = ""
        } else if text.hasPrefix("*.") {
            suffix = String(text.dropFirst())
            guard text.utf8.count > 2 else { return nil }
        } else {
            suffix = nil
            guard !text.isEmpty else { return nil }
        }
        guard !(suffix ?? text).utf8.contains(0x2A), !text.utf8.contains(0x20) else { return nil }
    }

    /// - Parameter host: in lower case.
    package func matches(_ host: String) -> Bool {
        guard let suffix else { return host == text }
        return suffix.isEmpty || host.hasSuffix(suffix)
    }
}
