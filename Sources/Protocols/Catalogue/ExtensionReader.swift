internal import Base
internal import TLS

extension RecipeReader {
    static func readExtension(
        _ field: ProbeText.Field, into recipe: inout CertificateRecipe
    ) throws(ProbeViolation) -> Bool {
        switch field.key {
        case "basic-constraints":
            recipe.basicConstraints = try value(field) { word in
                word == "CA:TRUE" || word == "CA:FALSE"
                    || word.hasPrefix("pathlen:") && UInt16(word.dropFirst(8)) != nil
            }
        case "key-usage": recipe.keyUsage = try value(field, isKnown: usages.contains)
        case "extended-key-usage":
            recipe.extendedKeyUsage = try value(field) { word in
                purposes.contains(word) || isIdentifier(word)
            }
        case "name-constraints":
            recipe.nameConstraints = try value(field) { word in
                let parts = word.split(separator: ":").first?.split(separator: ";") ?? []
                return parts.count == 2 && ["permitted", "excluded"].contains(parts[0])
                    && ["DNS", "IP", "email", "URI"].contains(parts[1])
            }
        case "policy-constraints":
            recipe.policyConstraints = try value(field) { word in
                let parts = word.split(separator: ":")
                return parts.count == 2 && UInt8(parts[1]) != nil
                    && ["requireExplicitPolicy", "inhibitPolicyMapping"].contains(parts[0])
            }
        case "tls-feature":
            recipe.tlsFeature = try value(field) { $0 == "status_request" || UInt16($0) != nil }
        case "crl-distribution-points":
            recipe.listAddresses = try value(field) { $0.hasPrefix("URI:") }
        case "authority-information-access":
            recipe.statusAddresses = try value(field) { word in
                word.hasPrefix("OCSP;URI:") || word.hasPrefix("caIssuers;URI:")
            }
        case "authority-key-identifier":
            recipe.authorityKeyIdentifier = try ProbeReader.value(field)
        case "extension": recipe.extraExtensions.append(try extra(field))
        default: return false
        }
        return true
    }

    /// `none`, or words between commas as OpenSSL has them; all but `critical` must be known.
    private static func value(
        _ field: ProbeText.Field, isKnown: (String) -> Bool
    ) throws(ProbeViolation) -> CertificateRecipe.ExtensionValue {
        if field.value == "none" { return .absent }
        let words = field.value.listed
        for word in words where word != "critical" && !isKnown(word) {
            throw ProbeViolation(
                field.line,
                "unknown \(field.key) '\(word)', expected none, or words like "
                    + (examples[field.key] ?? ""))
        }
        return .text(try text(words.joined(separator: ","), field))
    }

    private static let examples = [
        "basic-constraints": "critical, CA:TRUE, pathlen:0",
        "key-usage": "critical, digitalSignature, keyCertSign",
        "extended-key-usage": "serverAuth, clientAuth, codeSigning",
        "name-constraints": "critical, permitted;DNS:example.com, excluded;IP:10.0.0.0/255.0.0.0",
        "policy-constraints": "critical, requireExplicitPolicy:0",
        "tls-feature": "status_request",
        "crl-distribution-points": "URI:http://{url-host}/list.crl",
        "authority-information-access": "OCSP;URI:http://{url-host}/status",
    ]

    private static let usages: Set = [
        "digitalSignature", "nonRepudiation", "keyEncipherment", "dataEncipherment",
        "keyAgreement", "keyCertSign", "cRLSign", "encipherOnly", "decipherOnly",
    ]

    private static let purposes: Set = [
        "serverAuth", "clientAuth", "codeSigning", "emailProtection", "timeStamping",
        "OCSPSigning", "anyExtendedKeyUsage", "msSGC", "nsSGC",
    ]

    private static func isIdentifier(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 2, let root = UInt(parts[0]), let branch = UInt(parts[1]) else {
            return false
        }
        return root < 3 && (branch < 40 || root == 2)
            && parts.allSatisfy { part in UInt(part) != nil && part.first != "+" }
    }

    /// `1.3.6.1.4.1.99999.1 critical 0500`: an identifier, perhaps `critical`, and DER.
    private static func extra(
        _ field: ProbeText.Field
    ) throws(ProbeViolation) -> CertificateRecipe.ExtraExtension {
        let words = field.value.split(separator: " ").map(String.init)
        let isCritical = words.count == 3 && words[1] == "critical"
        guard words.count == 2 || isCritical, isIdentifier(words[0]),
            let last = words.last, let der = bytes(fromHex: last), !der.isEmpty
        else {
            throw ProbeViolation(
                field.line,
                "'\(field.value)' is no extension, expected an identifier, perhaps "
                    + "'critical', and DER in hexadecimal: 1.2.3.4 critical 0500")
        }
        return CertificateRecipe.ExtraExtension(
            identifier: words[0], isCritical: isCritical, der: der)
    }
}
