internal import Base

/// Writes the names of a certificate in DER (RFC 5280 §4.2.1.6), those too that are none.
enum AlternativeNamesWriter {
    typealias Entry = (kind: CertificateRecipe.AlternativeName.Kind, value: [UInt8])

    /// The value of the extension; `nil` if there is none.
    ///
    /// Errors: `probe-not-possible`, `recipe-invalid`.
    static func der(of recipe: CertificateRecipe, _ host: ProbedHost) throws(Failure) -> [UInt8]? {
        if isAbsent(recipe) { return nil }
        var names: [UInt8] = []
        for entry in try entries(of: recipe, host) {
            switch entry.kind {
            case .email: names += element(0x81, entry.value)
            case .dns: names += element(0x82, entry.value)
            case .uri: names += element(0x86, entry.value)
            case .ip: names += element(0x87, entry.value)
            case .host: preconditionFailure("a host is a DNS name or an address")
            }
        }
        return element(0x30, names)
    }

    /// The names as they are for a host, of which none is of the kind `host`.
    ///
    /// Errors: `probe-not-possible`, `recipe-invalid`.
    static func entries(
        of recipe: CertificateRecipe, _ host: ProbedHost
    ) throws(Failure) -> [Entry] {
        switch recipe.alternativeNames {
        case .absent: return []
        case .standard: return recipe.role == .leaf ? [try entry(.host, Array(host.text.utf8))] : []
        case .names(let names):
            var entries: [Entry] = []
            for name in names {
                entries.append(try entry(name.kind, try name.value.resolved(for: host)))
            }
            return entries
        }
    }

    private static func isAbsent(_ recipe: CertificateRecipe) -> Bool {
        switch recipe.alternativeNames {
        case .absent: true
        case .standard: recipe.role == .authority
        case .names: false
        }
    }

    private static func entry(
        _ kind: CertificateRecipe.AlternativeName.Kind, _ value: [UInt8]
    ) throws(Failure) -> Entry {
        switch kind {
        case .host:
            if let address = ProbedHost.address(value.text) { return (.ip, address) }
            return (.dns, value)
        case .ip:
            guard let address = ProbedHost.address(value.text) else {
                throw Failure(
                    "recipe-invalid", party: .tool, "'\(value.text)' is no IP address")
            }
            return (.ip, address)
        case .dns, .email, .uri: return (kind, value)
        }
    }

    /// A tag, a length and a content.
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        if content.count < 128 {
            length = [UInt8(content.count)]
        } else {
            var rest = content.count
            while rest > 0 {
                length.insert(UInt8(rest & 255), at: 0)
                rest >>= 8
            }
            length.insert(0x80 | UInt8(length.count), at: 0)
        }
        return [tag] + length + content
    }
}
