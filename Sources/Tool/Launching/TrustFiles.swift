internal import Base
internal import Glibc
internal import TLS

/// The files that tell programs whom to trust: the system's certificates and ours.
struct TrustFiles {
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
