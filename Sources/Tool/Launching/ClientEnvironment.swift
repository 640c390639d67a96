package import Base
package import Confinement
package import TLS

/// The variables and files that lead a program's traffic through the proxy and make it trust the
/// proxy's CA, as far as programs can be told.
///
/// They only add a CA to what is trusted and never switch a check off. A program that ignores them
/// is not captured, and one that pins refuses; both show in the verdict.
package struct ClientEnvironment {
    package let variables: [String: String]
    private let made: CommandFolder
    /// Where its files are, for as long as this value is there.
    var folder: String { made.path }
    /// The system's certificates and ours, in PEM.
    let bundle: String
    /// The same for Java.
    private let javaStore: String
    private let authorities: [Certificate]
    /// The authority, if it is trusted, and the anchors in PEM; `nil` where there are no anchors.
    package let authoritiesPath: String?

    /// Writes the files into a new folder.
    ///
    /// - Parameters:
    ///   - proxy: where the proxy listens; `nil` for a program that is led there without its doing.
    ///   - authority: who is trusted besides the system's; `nil` for nobody.
    ///   - anchors: certificates that are trusted as well; only with an authority.
    ///   - telling: whether variables tell of that trust; without them only what is laid over the
    ///     system's files does.
    ///   - masking: whether variables are set that make some programs verify although they have
    ///     switched it off: requests with `session.verify = False` obeys REQUESTS_CA_BUNDLE.
    ///   - inherited: the caller's own variables, which the result extends; those that name a proxy
    ///     are replaced or, without one of ours, left out, as are those that weaken where ours take
    ///     their place.
    ///
    /// Errors: `file-unwritable`, `file-unreadable`, `certificate-invalid`.
    package init(
        proxy: HostPort?, trusting authority: Certificate?, anchors: [Certificate] = [],
        inherited: [String: String],
        telling: Bool = true, masking: Bool = true
    ) throws(Failure) {
        let named = (authority.map { [$0] } ?? []) + anchors
        authorities = authority == nil ? [] : named
        made = try CommandFolder(in: inherited["TMPDIR"] ?? "/tmp")
        let system = try Self.systemBundle(inherited)
        let trust = TrustFiles(folder: made.path)
        try trust.write(
            authorities: authorities, named: named, system: system, inherited: inherited)
        authoritiesPath = anchors.isEmpty ? nil : trust.authorities
        let isTold = telling && authority != nil
        let others = inherited.filter {
            !Self.namesProxy($0.key) && (masking || !Self.masks($0.key))
                && !(isTold && (Self.weakens($0.key) || Self.outweighs($0.key)))
        }
        variables = others.merging(proxy.map(Self.proxyVariables) ?? [:]) { $1 }
            .merging(
                isTold
                    ? trust.variables(inherited, proxy: proxy, masking: masking)
                    : trust.javaVariables(inherited, proxy: proxy, trusting: false)
            ) { $1 }
        bundle = trust.bundle
        javaStore = trust.javaStore
    }

    /// How a command is confined that trusts what this says.
    ///
    /// Errors: `file-unreadable`.
    package func confinement(of command: [String]) throws(Failure) -> ConfinementConfiguration {
        var configuration = ConfinementConfiguration(
            command: command, variables: variables, bundle: bundle, folder: folder)
        guard !authorities.isEmpty else { return configuration }
        configuration.certificates["java/cacerts"] = try Files.read(javaStore)
        for authority in authorities {
            // OpenSSL tells those of one name apart by their number.
            let name = authority.folderName.prefix { $0 != "." }
            var number = 0
            while configuration.certificates["\(name).\(number)"] != nil { number += 1 }
            configuration.certificates["\(name).\(number)"] = authority.pem
        }
        return configuration
    }

    /// The same for a program that is led through a proxy.
    package func variables(through proxy: HostPort) -> [String: String] {
        var variables = variables.merging(Self.proxyVariables(proxy)) { $1 }
        let java = TrustFiles.javaWords(leadingTo: proxy).joined(separator: " ")
        variables["JAVA_TOOL_OPTIONS"] =
            variables["JAVA_TOOL_OPTIONS"].map { "\($0) \(java)" } ?? java
        return variables
    }

    /// Removes the files, once the command has ended.
    package func remove() {
        made.remove()
    }

    /// Whether a variable leads programs to a proxy, or past one.
    private static func namesProxy(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasSuffix("_proxy")
            && ["http", "https", "ftp", "all", "no", "ws", "wss", "rsync"].contains(
                name.dropLast(6))
            || ["npm_config_proxy", "npm_config_https_proxy", "npm_config_noproxy"].contains(name)
            || name.hasPrefix("global_agent_http")
    }

    /// Whether a variable makes some programs verify that have switched it off.
    private static func masks(_ name: String) -> Bool {
        ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"].contains(name)
    }

    /// Whether a variable that names a CA switches a check off as well: LWP looks at no names where
    /// one of these is set, as Crypt::SSLeay did.
    private static func weakens(_ name: String) -> Bool {
        ["HTTPS_CA_FILE", "HTTPS_CA_DIR"].contains(name)
    }

    /// Whether a variable is preferred to one of ours: curl reads no SSL_CERT_FILE where it is set.
    private static func outweighs(_ name: String) -> Bool { name == "SSL_CERT_DIR" }

    /// A scheme is written always: some programs break without. The empty exception lists defeat
    /// inherited ones.
    private static func proxyVariables(_ proxy: HostPort) -> [String: String] {
        let url = "http://\(proxy.reachable)"
        var variables: [String: String] = [:]
        for name in ["http_proxy", "https_proxy", "all_proxy"] {
            variables[name] = url
            variables[name.uppercased()] = url
        }
        for name in [
            "WS_PROXY", "WSS_PROXY", "GLOBAL_AGENT_HTTP_PROXY", "CGI_HTTP_PROXY",
            "npm_config_proxy", "npm_config_https_proxy",
        ] {
            variables[name] = url
        }
        variables["no_proxy"] = ""
        variables["NO_PROXY"] = ""
        variables["PERL_LWP_ENV_PROXY"] = "1"
        variables["MOJO_PROXY"] = "1"
        return variables
    }

    /// The system's certificates, in PEM: what a merged bundle begins with.
    private static func systemBundle(_ inherited: [String: String]) throws(Failure) -> [UInt8] {
        let places = [
            inherited["SSL_CERT_FILE"], "/etc/ssl/certs/ca-certificates.crt",
            "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
        ]
        for case let place? in places where Files.exists(place) { return try Files.read(place) }
        return []
    }
}
