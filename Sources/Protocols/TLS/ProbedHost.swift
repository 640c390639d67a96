package import Base

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// What a recipe's text may take from the host that a client asks for.
///
/// One that the host has not got, such as the parent of `localhost`, makes a probe impossible there.
package enum HostPlaceholder: String, Sendable, CaseIterable {
    /// The name or address itself.
    case host
    /// That as it stands in a URL.
    case urlHost = "url-host"
    /// A name without its first label.
    case parent
    /// A name without its first two labels.
    case grandparent
    /// The last label of a name of three labels or more.
    case top
    /// The last label of a name of two labels.
    case suffix
    /// The first label of a name that has others.
    case label
    /// The first letter of that.
    case first
    /// The last letter of that.
    case last
    /// The `xn--` that the first label begins with.
    case ace
    /// A name in capital letters.
    case upper
    /// The name with its first `k` as U+212A, the Kelvin sign.
    case kelvin
    /// An IP address.
    case address
    /// An address beside it.
    case otherAddress = "other-address"
    /// An IPv4 address without its first number.
    case addressTail = "address-tail"

    /// What is to be said of a host that has nothing for it.
    var lack: String {
        switch self {
        case .host, .urlHost: "is empty"
        case .parent, .label, .first, .last: "has no label below a domain"
        case .grandparent, .top: "has fewer than three labels"
        case .suffix: "has not two labels"
        case .ace: "does not begin with xn--"
        case .upper: "is no name"
        case .kelvin: "has no letter k"
        case .address, .otherAddress: "is no IP address"
        case .addressTail: "is no IPv4 address"
        }
    }
}

/// The host that a client asks for: a DNS name in ASCII, or an IP address.
package struct ProbedHost: Sendable, Equatable {
    /// In lower case, without a dot at the end and without brackets.
    package let text: String
    /// Of a DNS name; empty for an address.
    package let labels: [String]
    /// 4 or 16 bytes; `nil` for a DNS name.
    package let address: [UInt8]?

    /// Errors: `probe-not-possible` for text that is neither.
    package init(_ text: String) throws(Failure) {
        var bare = Substring(text.lowercased())
        if bare.hasPrefix("["), bare.hasSuffix("]") { bare = bare.dropFirst().dropLast() }
        if bare.hasSuffix(".") { bare = bare.dropLast() }
        self.text = String(bare)
        address = Self.address(self.text)
        if address != nil {
            labels = []
            return
        }
        labels = bare.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let isName = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy {
                    $0.isASCIILetter || $0.isASCIIDigit || $0 == 0x2D || $0 == 0x5F
                }
        }
        guard isName, bare.utf8.count <= 253 else {
            throw Self.impossible("'\(text)' is no host that a certificate can name")
        }
    }

    static func impossible(_ reason: String) -> Failure {
        Failure("probe-not-possible", party: .tool, reason)
    }

    /// What a place in a text is filled with.
    ///
    /// Errors: `probe-not-possible`.
    func fill(_ placeholder: HostPlaceholder) throws(Failure) -> String {
        let filled =
            switch placeholder {
            case .host: text
            case .urlHost: HostPort.bracketed(text)
            case .parent: tail(after: 1)
            case .grandparent: tail(after: 2)
            case .top: labels.count > 2 ? labels.last : nil
            case .suffix: labels.count == 2 ? labels.last : nil
            case .label: labels.count > 1 ? labels.first : nil
            case .first: labels.count > 1 ? labels.first.map { String($0.prefix(1)) } : nil
            case .last: labels.count > 1 ? labels.first.map { String($0.suffix(1)) } : nil
            case .upper: labels.isEmpty ? nil : text.uppercased()
            case .ace: labels.first?.hasPrefix("xn--") == true ? "xn--" : nil
            case .kelvin: kelvin
            case .address: address == nil ? nil : text
            case .otherAddress: otherAddress
            case .addressTail: addressTail
            }
        guard let filled else {
            throw Self.impossible("the host '\(text)' \(placeholder.lack)")
        }
        return filled
    }

    private func tail(after count: Int) -> String? {
        labels.count > count ? labels.dropFirst(count).joined(separator: ".") : nil
    }

    private var kelvin: String? {
        guard address == nil, let place = text.firstIndex(of: "k") else { return nil }
        return text.replacingCharacter(at: place, with: "\u{212A}")
    }

    private var addressTail: String? {
        guard address?.count == 4 else { return nil }
        return text.split(separator: ".").dropFirst().joined(separator: ".")
    }

    private var otherAddress: String? {
        guard var bytes = address else { return nil }
        bytes[bytes.count - 1] ^= 3
        var space = [CChar](repeating: 0, count: 64)
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard unsafe inet_ntop(family, bytes, &space, socklen_t(space.count)) != nil else {
            return nil
        }
        return space.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.text
    }

    /// Whether a host is an IP address, and no name.
    package static func isAddress(_ host: String) -> Bool { address(host) != nil }

    /// The bytes of an IP address in text, `nil` if it is none.
    static func address(_ text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        if unsafe inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes.prefix(4)) }
        if unsafe inet_pton(AF_INET6, text, &bytes) == 1 { return bytes }
        return nil
    }
}

extension String {
    fileprivate func replacingCharacter(at place: Index, with text: String) -> String {
        self[..<place] + text + self[index(after: place)...]
    }
}
