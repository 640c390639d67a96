internal import Base

/// Returns the domain that somebody registered for a host, such as `example.co.uk` for
/// `www.example.co.uk`: hosts that share it belong to one party.
///
/// Suffixes that a company lends to others count as well, so `nora.github.io` is a domain of its
/// own. A name under a top level that the list does not know counts by its last two labels.
///
/// - Parameter host: a host name as a client sends it; in any case, with or without the dot at its
///   end. Internationalized names are in their ASCII form (RFC 5890 §2.3.2.1).
/// - Returns: the domain in lower case without a dot at its end; `nil` for a public suffix itself,
///   a single label, an IP address, and what is no host name.
package func registrableDomain(of host: String) -> String? {
    var name = host.utf8.prefix(lengthLimit + 2).map(\.asciiLowercased)
    if name.last == UInt8(ascii: ".") { name.removeLast() }
    guard name.count <= lengthLimit else { return nil }
    let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard labels.count > 1, labels.allSatisfy(isLabel), let last = labels.last, !isNumber(last)
    else { return nil }
    return BuiltInList.registrableDomain(of: name.text)
}

private func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
    (1...63).contains(label.count)
        && label.allSatisfy { byte in
            byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: "_")
        }
}

/// Whether a name that ends in this label is an IPv4 address, or would be one (URL Standard §3.5).
private func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
    if label.allSatisfy(\.isASCIIDigit) { return true }
    return label.starts(with: Array("0x".utf8))
        && label.dropFirst(2).allSatisfy { $0.hexDigitValue != nil }
}

/// In bytes, without the dot at the end (RFC 1035 §2.3.4).
private let lengthLimit = 253
