internal import Base

/// A host as it is compared: lower case, without port, brackets, userinfo and final dot.
struct HostName: Hashable {
    let bytes: [UInt8]

    init(authority: [UInt8]) {
        var rest = authority[...]
        if let at = rest.lastIndex(of: 0x40) { rest = rest[(at + 1)...] }
        if rest.first == 0x5B {
            rest = rest.dropFirst().prefix { $0 != 0x5D }
        } else if rest.count(where: { $0 == 0x3A }) == 1, let colon = rest.firstIndex(of: 0x3A) {
            rest = rest[..<colon]
        }
        while rest.last == 0x2E { rest = rest.dropLast() }
        bytes = rest.prefix(255).map(\.asciiLowercased)
    }

    init(_ text: String) { self.init(authority: Array(text.utf8)) }

    var text: String { bytes.text }
    var isEmpty: Bool { bytes.isEmpty }

    /// Whether what is sent there never leaves the machine.
    var isLoopback: Bool { LoopbackHost.contains(bytes.text) }

    var isAddress: Bool {
        if bytes.contains(0x3A) { return true }
        let parts = bytes.text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }
}
