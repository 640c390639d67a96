internal import Base
internal import Confinement
internal import Glibc
internal import TLS

/// The variables and files that lead a program's traffic through the proxy and make it trust the
/// proxy's CA, as far as programs can be told.
///
/// They only add a CA to what is trusted and never switch a check off. A program that ignores them
/// is not captured, and one that pins refuses; both show in the verdict.
struct ClientEnvironment {
    let variables: [String: String]
    private let made: CommandFolder
    /// Where its files are, for as long as this value is there.
    var folder: String { made.path }
    /// The system's certificates and ours, in PEM.
    let bundle: String
    /// The same for Java.
    private let javaStore: String
    private let authorities: [Certificate]
    /// The authority, if it is trusted, and the anchors in PEM; `nil` where there are no anchors.
    let authoritiesPath: String?

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
    init(
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
                && !(isTold && Self.weakens($0.key))
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
    func confinement(of command: [String]) throws(Failure) -> ConfinementConfiguration {
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
    func variables(through proxy: HostPort) -> [String: String] {
        var variables = variables.merging(Self.proxyVariables(proxy)) { $1 }
        let java = TrustFiles.javaWords(leadingTo: proxy).joined(separator: " ")
        variables["JAVA_TOOL_OPTIONS"] =
            variables["JAVA_TOOL_OPTIONS"].map { "\($0) \(java)" } ?? java
        return variables
    }

    /// Removes the files, once the command has ended.
    func remove() {
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

/// The files that tell programs whom to trust: the system's certificates and ours.
private struct TrustFiles {
    let bundle: String
    let javaStore: String
    let wgetConfiguration: String
    let aptConfiguration: String
    let phpConfiguration: String
    let authorities: String
    private let phpFolder: String

    /// Java's own default, and no secret: it only guards against accidents.
    private static let javaPassword = "changeit"

    init(folder: String) {
        bundle = "\(folder)/ca-bundle.pem"
        javaStore = "\(folder)/truststore.jks"
        wgetConfiguration = "\(folder)/wgetrc"
        aptConfiguration = "\(folder)/apt.conf"
        authorities = "\(folder)/authorities.pem"
        phpFolder = "\(folder)/php"
        phpConfiguration = "\(folder)/php/sallyport.ini"
    }

    func write(
        authorities trusted: [Certificate], named: [Certificate], system: [UInt8],
        inherited: [String: String]
    ) throws(Failure) {
        let ours = trusted.flatMap(\.pem)
        try Files.create(authorities, named.flatMap(\.pem), readableByOthers: true)
        try Files.create(bundle, system + [0x0A] + ours, readableByOthers: true)
        let certificates =
            try Certificate.all(inPEM: system, name: "the system's bundle")
            + trusted
        try Files.create(
            javaStore,
            JavaKeyStore.write(certificates.map(\.der), password: Self.javaPassword),
            readableByOthers: true)
        // Of this user alone: the caller's own may hold passwords.
        try Files.create(
            wgetConfiguration,
            try wgetText(inherited) + [UInt8]("ca_certificate = \(bundle)\n".utf8))
        try Files.create(
            aptConfiguration, [UInt8]("Acquire::https::CaInfo \"\(bundle)\";\n".utf8),
            readableByOthers: true)
        try Files.makeFolder(phpFolder)
        _ = unsafe chmod(phpFolder, 0o755)
        try Files.create(
            phpConfiguration,
            [UInt8]("openssl.cafile=\(bundle)\ncurl.cainfo=\(bundle)\n".utf8),
            readableByOthers: true)
    }

    /// What wget would have read in place of our file.
    private func wgetText(_ inherited: [String: String]) throws(Failure) -> [UInt8] {
        let path = inherited["WGETRC"] ?? inherited["HOME"].map { $0 + "/.wgetrc" }
        guard let path, Files.exists(path) else { return [] }
        return try Files.read(path) + [0x0A]
    }

    func variables(
        _ inherited: [String: String], proxy: HostPort?, masking: Bool
    ) -> [String: String] {
        var variables: [String: String] = [
            "WGETRC": wgetConfiguration,
            "APT_CONFIG": aptConfiguration,
            // The leading colon keeps the system's folder.
            "PHP_INI_SCAN_DIR": ":\(phpFolder)",
        ]
        for name in [
            "SSL_CERT_FILE", "NIX_SSL_CERT_FILE", "PIP_CERT", "AWS_CA_BUNDLE",
            "NODE_EXTRA_CA_CERTS", "DENO_CERT", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO",
            "PERL_LWP_SSL_CA_FILE", "MOJO_CA_FILE", "BUNDLE_SSL_CA_CERT",
            "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "LDAPTLS_CACERT",
        ] {
            variables[name] = bundle
        }
        if masking { variables["REQUESTS_CA_BUNDLE"] = bundle }
        // Programs that read these prefer them to the ones above; where the caller has none, setting
        // one could hide that a program switches verification off (requests reads CURL_CA_BUNDLE).
        for name in ["CURL_CA_BUNDLE", "HTTPLIB2_CA_CERTS", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE"]
        where inherited[name] != nil && (masking || name != "CURL_CA_BUNDLE") {
            variables[name] = bundle
        }
        return variables.merging(javaVariables(inherited, proxy: proxy, trusting: true)) { $1 }
    }

    static func javaWords(leadingTo proxy: HostPort) -> [String] {
        let place = proxy.reachable
        return [
            "-Dhttp.proxyHost=\(place.host)", "-Dhttp.proxyPort=\(place.port)",
            "-Dhttps.proxyHost=\(place.host)", "-Dhttps.proxyPort=\(place.port)",
            "-Dhttp.nonProxyHosts=",
        ]
    }

    func javaVariables(
        _ inherited: [String: String], proxy: HostPort?, trusting: Bool
    ) -> [String: String] {
        let ways = proxy.map(Self.javaWords) ?? []
        let trust =
            trusting
            ? [
                "-Djavax.net.ssl.trustStore=\(javaStore)",
                "-Djavax.net.ssl.trustStorePassword=\(Self.javaPassword)",
            ] : []
        let java = (ways + trust).joined(separator: " ")
        guard !java.isEmpty else { return [:] }
        return ["JAVA_TOOL_OPTIONS": inherited["JAVA_TOOL_OPTIONS"].map { "\($0) \(java)" } ?? java]
    }
}

/// Java's key store format (JKS, version 2), for certificates that are trusted.
///
/// PKCS #12, its successor, needs an attribute of Oracle's on each certificate, which OpenSSL 3.0
/// cannot write.
enum JavaKeyStore {
    /// - Parameter certificates: in DER.
    static func write(_ certificates: [[UInt8]], password: String) -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ number: some FixedWidthInteger) {
            var shift = number.bitWidth - 8
            while shift >= 0 {
                bytes.append(UInt8(truncatingIfNeeded: number >> shift))
                shift -= 8
            }
        }
        func append(text: String) {
            append(UInt16(text.utf8.count))
            bytes += text.utf8
        }
        append(UInt32(0xFEED_FEED))
        append(UInt32(2))
        append(UInt32(certificates.count))
        let now = Timestamp.now().microseconds / 1000
        for (index, certificate) in certificates.enumerated() {
            append(UInt32(2))
            append(text: "certificate-\(index)")
            append(now)
            append(text: "X.509")
            append(UInt32(certificate.count))
            bytes += certificate
        }
        let key = password.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        return bytes + Digests.sha1(key + "Mighty Aphrodite".utf8 + bytes)
    }
}
