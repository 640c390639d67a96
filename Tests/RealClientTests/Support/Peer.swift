import Foundation
import Testing

/// A program that is not ours: a client, an origin or what prepares a test.
struct Peer: Sendable {
    let name: String
    /// `nil` if it is not installed.
    let path: String?

    /// A command of the search path.
    init(_ name: String) {
        let folders = "\(Self.variables["PATH"] ?? ""):/usr/sbin:/sbin".split(separator: ":")
        self.name = name
        path = folders.lazy.map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// A file at a place that is known.
    init(_ name: String, at path: String) {
        self.name = name
        self.path = FileManager.default.fileExists(atPath: path) ? path : nil
    }

    static let variables = ProcessInfo.processInfo.environment
    /// Whether a missing peer fails a test, rather than skip it.
    static let isRequired = variables["SALLYPORT_REQUIRE_PEERS"] != nil

    static let openssl = Peer("openssl")
    static let nginx = Peer("nginx")
    static let sqlite = Peer("sqlite3")
    static let ps = Peer("ps")
    static let wrk = Peer("wrk")
    static let bash = Peer("bash")
    static let zsh = Peer("zsh")
    static let fish = Peer("fish")
    static let groff = Peer("groff")
    static let curl = Peer("curl")
    static let dumpcap = Peer("dumpcap")
    static let wget = Peer("wget")
    static let git = Peer("git")
    static let gnutls = Peer("gnutls-cli")
    static let nghttp = Peer("nghttp")
    static let nghttpd = Peer("nghttpd")
    static let h2load = Peer("h2load")
    static let java = Peer("java")
    static let chromium = Peer("chromium")
    static let certutil = Peer("certutil")
    static let keytool = Peer("keytool")
    static let node = Peer("node")
    static let apt = Peer("apt-get")
    static let ldapsearch = Peer("ldapsearch")
    static let redisClient = Peer("redis-cli")
    static let redis = Peer("redis-server")
    static let mosquittoClient = Peer("mosquitto_pub")
    static let mosquitto = Peer("mosquitto")
    static let swiftCompiler = Peer("swiftc")
    static let go = Peer("go")
    static let setpriv = Peer("setpriv")
    static let nodeAgent = Peer(
        "node-https-proxy-agent",
        at: (nodePath.split(separator: ":").last.map(String.init) ?? "") + "/https-proxy-agent")
    /// A Python that has requests, grpcio and websockets.
    static let python = Peer(
        "python with requests, grpcio and websockets (Scripts/install-dependencies --test)",
        at: variables["SALLYPORT_TEST_PYTHON"] ?? "\(projectFolder)/.build/test-venv/bin/python")

    /// Beside that Python.
    static let httpie = Peer(
        "httpie (Scripts/install-dependencies --test)",
        at: URL(fileURLWithPath: python.path ?? "/").deletingLastPathComponent()
            .appendingPathComponent("http").path)
    static let tus = Peer(
        "tuspy (Scripts/install-dependencies --test)", at: "\(pythonPackages)/tusclient")
    static let aioapns = Peer(
        "aioapns (Scripts/install-dependencies --test)", at: "\(pythonPackages)/aioapns")
    static let httpx = Peer(
        "httpx (Scripts/install-dependencies --test)", at: "\(pythonPackages)/httpx")
    private static let pythonPackages: String = {
        let library = URL(fileURLWithPath: python.path ?? "/").deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("lib").path
        let folders = FileManager.default.enumerator(atPath: library)
        return "\(library)/\(folders?.nextObject() as? String ?? "")/site-packages"
    }()
    static let kdc = Peer("krb5kdc")
    static let kinit = Peer("kinit")
    static let ruby = Peer("ruby")
    static let php = Peer("php")
    static let perl = Peer(
        "perl with IO::Socket::SSL", at: perlModule == nil ? "" : "/usr/bin/perl")
    static let lwp = Peer(
        "perl with LWP", at: "/usr/share/perl5/LWP/Protocol/https.pm")
    private static let perlModule = ["/usr/share/perl5", "/usr/local/share/perl5"]
        .first { FileManager.default.fileExists(atPath: "\($0)/IO/Socket/SSL.pm") }
    static let psql = Peer("psql")
    static let initdb = Peer(
        "initdb", at: (postgresqlPrograms.last ?? "/usr/lib/postgresql") + "/bin/initdb")
    static let mariadb = Peer("mariadb")
    static let mariadbServer = Peer("mariadbd")

    private static let postgresqlPrograms: [String] = {
        let parent = URL(fileURLWithPath: "/usr/lib/postgresql")
        let folders = FileManager.default.enumerator(
            at: parent, includingPropertiesForKeys: nil, options: .skipsSubdirectoryDescendants)
        return (folders?.compactMap { ($0 as? URL)?.path } ?? []).sorted()
    }()

    static let nodePath = variables["NODE_PATH"] ?? "/usr/share/nodejs"

    /// Skips one row of a table if it is missing and not required.
    func needed(for row: String) throws {
        guard path == nil, !Self.isRequired else { return }
        // The library tells of skipped tests, but not of skipped rows.
        print("➜ Test row \(row) skipped: there is no \(name)")
        try Test.cancel("there is no \(name)")
    }

    /// The top of the project.
    static let projectFolder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// The file of a client that is written here.
    static func script(_ name: String) -> String {
        "\(projectFolder)/Tests/RealClientTests/Clients/\(name)"
    }

    /// The file of a server that is written here.
    static func server(_ name: String) -> String {
        "\(projectFolder)/Tests/RealClientTests/Servers/\(name)"
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test whose peers are missing, unless they are required.
    static func needs(_ peers: Peer..., sourceLocation: SourceLocation = #_sourceLocation) -> Self {
        let missing = ([.openssl, .nginx] + peers).filter { $0.path == nil }.map(\.name)
        return .enabled(
            if: missing.isEmpty || Peer.isRequired,
            "there is no \(missing.joined(separator: ", no "))", sourceLocation: sourceLocation)
    }
}

/// What went wrong in a test before there was anything to judge.
struct Trouble: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
