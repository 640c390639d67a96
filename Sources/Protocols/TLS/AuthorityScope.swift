package import Base

/// The domains that an authority may vouch for: each of them and what is below it.
package struct AuthorityScope: Sendable, Equatable {
    /// In lower case, sorted, each once.
    package let domains: [String]

    /// Errors: `scope-invalid` for what is no host name, is an IP address, or is too much.
    package init(_ names: [String]) throws(Failure) {
        guard names.count <= Self.countLimit else {
            throw Failure(
                "scope-invalid", party: .tool,
                "a CA's scope has at most \(Self.countLimit) domains")
        }
        var domains = Set<String>()
        for name in names {
            guard let domain = Self.domain(name) else {
                throw Failure(
                    "scope-invalid", party: .tool, "a domain is needed, not '\(name)'",
                    hint: Self.hint)
            }
            domains.insert(domain)
        }
        self.domains = domains.sorted()
    }

    /// Returns the name in lower case if it consists of labels of letters, digits, hyphens and
    /// underscores and is no IP address, else `nil`.
    ///
    /// The name becomes a part of OpenSSL's syntax of extensions, where commas, colons and
    /// semicolons have a meaning; nothing else may pass.
    package static func domain(_ name: String) -> String? {
        let bytes = name.utf8.prefix(lengthLimit + 1).map(\.asciiLowercased)
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard bytes.count <= lengthLimit, labels.allSatisfy(isLabel),
            let last = labels.last, last.contains(where: \.isASCIILetter),
            !last.starts(with: Array("0x".utf8))
        else { return nil }
        return bytes.text
    }

    /// How a person writes one.
    package static let hint = "write it like example.com; what is below it is meant as well"

    private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
        (1...63).contains(label.count) && label.first != UInt8(ascii: "-")
            && label.last != UInt8(ascii: "-")
            && label.allSatisfy { byte in
                byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: "_")
            }
    }

    /// In bytes (RFC 1035 §2.3.4).
    private static let lengthLimit = 253
    /// Every client checks every leaf against each of them.
    private static let countLimit = 64
}
