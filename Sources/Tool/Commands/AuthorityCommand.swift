internal import Base
internal import CommandSyntax
internal import Runs
internal import TLS
internal import Terminal
internal import Views

extension Command {
    /// `ca`: the certificate authority that clients have to trust.
    static var authority: Command {
        Command(
            "ca", "show and export the CA that clients have to trust",
            examples: [
                Example(
                    purpose: "trust it for one command",
                    line: "curl --cacert \"$(sallyport ca path)\" --proxy http://127.0.0.1:8080"
                        + " https://example.com/"),
                Example(
                    purpose: "what it is, and where its files are",
                    line: "sallyport ca show"),
                Example(
                    purpose: "one that is limited to servers in one domain",
                    line: "sallyport ca export --ca-scope example.com > example.pem"),
                Example(
                    purpose: "the certificate for a device that wants DER",
                    line: "sallyport ca export --format der > sallyport.cer"),
            ],
            subcommands: [.authorityShow, .authorityExport, .authorityPath])
    }

    private static var authorityShow: Command {
        Command(
            "show", "show the certificate authority",
            examples: [Example(purpose: "what it is", line: "sallyport ca show")],
            details: [creationHelp, scopeHelp],
            arguments: AuthorityArguments(),
            parameters: authorityParameters.map { $0.lifted(to: \.authority) } + [
                .flag("json", \.isJSON, "print a JSON document in the schema sallyport.ca/1")
            ]
        ) { arguments, environment in
            let record = try environment.openAuthority(arguments.authority)
            if arguments.isJSON {
                try environment.output.write(record.json.document)
            } else {
                try environment.output.write(text(of: record))
            }
            return .clean
        }
    }

    private static var authorityExport: Command {
        Command(
            "export", "print the certificate, never the key",
            examples: [
                Example(
                    purpose: "as PEM, which most programs read",
                    line: "sallyport ca export > sallyport.pem")
            ],
            details: [creationHelp, scopeHelp],
            arguments: AuthorityArguments(),
            parameters: authorityParameters.map { $0.lifted(to: \.authority) } + [
                .option(
                    "format", \.format, .choice("FORMAT"), standard: "pem", "how it is written")
            ]
        ) { arguments, environment in
            let certificate = try environment.openAuthority(arguments.authority).certificate
            switch arguments.format {
            case .pem: try environment.output.write(pem(certificate))
            case .der: try environment.output.write(certificate)
            }
            return .clean
        }
    }

    private static var authorityPath: Command {
        Command(
            "path", "print where the certificate is",
            examples: [
                Example(
                    purpose: "for a program that takes a file of trusted certificates",
                    line: "SSL_CERT_FILE=\"$(sallyport ca path)\" ./app")
            ],
            details: [creationHelp, scopeHelp],
            arguments: AuthorityArguments(),
            parameters: authorityParameters.map { $0.lifted(to: \.authority) }
        ) { arguments, environment in
            let record = try environment.openAuthority(arguments.authority)
            try environment.output.write(record.certificatePath + "\n")
            return .clean
        }
    }
}

/// The options that name the certificate authority, for every command that uses it.
var authorityParameters: [Parameter<AuthorityConfiguration>] {
    [
        .option(
            "ca-file", \.certificatePath, .path("FILE"),
            "use the certificate authority in this PEM file"),
        .option(
            "ca-key", \.keyPath, .path("FILE"), "the private key that belongs to it"),
        .option(
            "ca-password-file", \.passwordPath, .path("FILE"),
            "a file whose first line decrypts the key"),
        .repeated(
            "ca-scope", \.scope, .domain,
            "use a CA of its own, limited to servers in this domain by name constraints"),
    ]
}

extension ValueSyntax where Value == String {
    /// A domain of a CA's scope.
    fileprivate static var domain: ValueSyntax {
        .reading(
            "DOMAIN", wanted: "a domain", hint: AuthorityScope.hint, AuthorityScope.domain)
    }
}

private struct AuthorityArguments {
    var authority = AuthorityConfiguration()
    var isJSON = false
    var format = Format.pem

    enum Format: String, CaseIterable {
        case pem
        case der
    }
}

private let creationHelp =
    "The certificate authority is made at first use, for this installation only. Nothing on the"
    + " machine trusts it until you say so; to undo that, remove it where you added it."

private let scopeHelp =
    "The CA of a scope has name constraints, which OpenSSL and GnuTLS keep even in a CA that is"
    + " trusted; Java does not."

private func text(of record: AuthorityRecord) -> String {
    var rows = [
        ("certificate", record.certificatePath),
        ("key", record.keyPath),
        ("subject", record.subject),
        ("valid from", record.notBefore.rfc3339),
        ("valid until", record.notAfter.rfc3339),
        ("SHA-256", fingerprint(record.sha256)),
    ]
    if !record.scope.isEmpty {
        rows.append(("only for", record.scope.joined(separator: ", ")))
    }
    let lines = rows.map { name, value in
        let padding = String(repeating: " ", count: 13 - name.utf8.count)
        return name + padding + TerminalText.sanitized(value)
    }
    return lines.joined(separator: "\n") + "\n"
}

/// `AB:CD:…`, as browsers show it.
private func fingerprint(_ digest: [UInt8]) -> String {
    digest.map { [$0].hex.uppercased() }.joined(separator: ":")
}

/// The textual encoding of a certificate (RFC 7468 §5).
private func pem(_ certificate: [UInt8]) -> String {
    var text = "-----BEGIN CERTIFICATE-----\n"
    let characters = Array(Base64.encode(certificate))
    for start in stride(from: 0, to: characters.count, by: 64) {
        text += String(characters[start..<min(start + 64, characters.count)]) + "\n"
    }
    return text + "-----END CERTIFICATE-----\n"
}
