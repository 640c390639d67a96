import Foundation
import Testing

/// A client in a correct or a careless variant, with what the quick profile must say of it.
struct AuditedClient: Sendable, CustomTestStringConvertible {
    let name: String
    let peer: Peer
    var port = 443
    /// The probes of the quick profile that it wrongly accepts.
    let fails: Set<String>
    /// Whether it takes a sound server of the audit's CA.
    var isControlled = true
    let command: [String]

    var testDescription: String { name }

    private static let names: Set = ["name-wrong-host"]
    private static let times: Set = ["time-expired"]
    private static let chains: Set = [
        "trust-impostor-root-same-name", "trust-mimic-leaf-real-issuers", "trust-self-signed",
        "trust-unknown-root", "time-expired", "chain-leaf-as-ca",
    ]
    private static let all = chains.union(names)
    /// What can be tried on a client whose CAs cannot be added to.
    private static let untrusted: Set = [
        "trust-mimic-leaf-real-issuers", "trust-self-signed", "trust-unknown-root",
    ]

    private static func file(_ name: String) -> String { Peer.script("audited/\(name)") }

    /// One program with variants, each with what it fails.
    private static func variants(
        _ name: String, _ peer: Peer, port: Int = 443, _ command: [String],
        _ list: [(how: String, fails: Set<String>)], _ rest: [String] = ["{url}"]
    ) -> [Self] {
        list.map { entry in
            Self(
                name: "\(name), \(entry.how)", peer: peer, port: port, fails: entry.fails,
                command: command + [entry.how] + rest)
        }
    }

    private static let place = ["{host}", "{port}"]
    private static var python: String { Peer.python.path ?? "" }

    /// Sends a request to a program that passes on what it reads.
    private static func piped(_ command: String) -> [String] {
        ["sh", "-c", "(printf 'GET / HTTP/1.0\\r\\n\\r\\n'; sleep 1) | \(command)"]
    }

    private static let commandLines: [Self] = [
        Self(name: "curl", peer: .curl, fails: [], command: ["curl", "-s", "{url}"]),
        Self(name: "curl -k", peer: .curl, fails: all, command: ["curl", "-sk", "{url}"]),
        Self(
            name: "curl that pins another key", peer: .curl, fails: [], isControlled: false,
            command: [
                "curl", "-s", "--pinnedpubkey",
                "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "{url}",
            ]),
        Self(
            name: "wget", peer: .wget, fails: [],
            command: ["wget", "-q", "-t1", "-O-", "{url}"]),
        Self(
            name: "wget --no-check-certificate", peer: .wget, fails: all,
            command: ["wget", "-q", "-t1", "-O-", "--no-check-certificate", "{url}"]),
        Self(
            name: "openssl s_client that verifies", peer: .openssl, fails: [],
            command: piped(
                "openssl s_client -quiet -verify_quiet -verify_return_error"
                    + " -verify_hostname {host} -servername {host} -connect {host}:{port}")),
        Self(
            name: "openssl s_client", peer: .openssl, fails: all,
            command: piped(
                "openssl s_client -quiet -servername {host} -connect {host}:{port}")),
        Self(
            name: "gnutls-cli", peer: .gnutls, fails: [],
            command: piped("gnutls-cli -p {port} {host}")),
        Self(
            name: "gnutls-cli --insecure", peer: .gnutls, fails: all,
            command: piped("gnutls-cli --insecure -p {port} {host}")),
        Self(
            name: "git", peer: .git, fails: [], command: ["git", "ls-remote", "{url}project"]),
        Self(
            name: "git without sslVerify", peer: .git, fails: all,
            command: ["git", "-c", "http.sslVerify=false", "ls-remote", "{url}project"]),
        Self(
            name: "redis-cli", peer: .redisClient, port: 6379, fails: names,
            command: ["redis-cli", "--tls", "-h", "{host}", "-p", "{port}", "ping"]),
        Self(
            name: "redis-cli --insecure", peer: .redisClient, port: 6379, fails: all,
            command: ["redis-cli", "--tls", "--insecure", "-h", "{host}", "-p", "{port}", "ping"]),
    ]

    private static func psql(_ mode: String, _ fails: Set<String>, _ more: String = "") -> Self {
        Self(
            name: "psql sslmode=\(mode)", peer: .psql, port: 5432, fails: fails,
            command: [
                "psql", "postgresql://user@{host}:{port}/data?sslmode=\(mode)\(more)", "-c",
                "select 1",
            ])
    }

    private static let root = "&sslrootcert={ca}"

    static let quick: [Self] =
        commandLines
        + variants(
            "Python ssl", .python, [python, file("tls.py")],
            [
                ("default", []), ("unverified", all), ("no-hostname", names),
                ("no-expiry", times),
            ], place)
        + variants(
            "requests", .python, [python, file("requests_client.py")],
            [("default", []), ("unverified", all), ("session", untrusted)])
        + variants(
            "Node https", .node, ["node", file("tls.cjs")],
            [("default", []), ("unverified", all), ("no-hostname", names)])
        + variants(
            "IO::Socket::SSL", .perl, ["perl", file("tls.pl")],
            [("default", []), ("unverified", all), ("no-hostname", names)], place)
        + variants(
            "Ruby net/http", .ruby, ["ruby", file("tls.rb")],
            [("default", []), ("unverified", all), ("no-hostname", names)])
        + variants(
            "PHP streams", .php, ["php", file("tls.php")],
            [
                ("default", []), ("unverified", all), ("no-chain", chains),
                ("no-hostname", names),
            ])
        + variants(
            "Java HttpsURLConnection", .java,
            ["java", "-XX:TieredStopAtLevel=1", file("Audited.java")],
            [
                ("default", []), ("trust-all", chains), ("trust-all-extended", all),
                ("no-hostname", names),
            ])
        + variants(
            "Go net/http", .go, [file("tls.go")],
            [("default", []), ("unverified", all), ("no-hostname", names)])
        + variants(
            "smtplib", .python, port: 465, [python, file("mail.py")],
            [("smtp", all), ("smtp-verified", [])], place)
        + variants(
            "imaplib", .python, port: 993, [python, file("mail.py")],
            [("imap", all), ("imap-verified", [])], place)
        + [
            psql("verify-full", [], root), psql("verify-ca", names, root), psql("require", all),
        ]
}

extension AuditedClient {
    /// The command as it is started: what is compiled is compiled into a folder before.
    func prepared(in folder: Folder) async throws -> [String] {
        guard peer.name == "go" else { return command }
        let program = folder.path("client")
        try await Program.run(.go, ["build", "-o", program, command[0]], in: folder)
        return [program] + command.dropFirst()
    }
}

/// What an audit said, as its JSON has it.
struct AuditAnswer: Decodable {
    struct Result: Decodable {
        let client: String
        let destination: String
        let probe: String
        let outcome: String
        let verdict: String
        let evidence: String
        let connections: [Int]
    }

    struct Diagnosis: Decodable {
        let mistake: String
    }

    let verdict: String
    let diagnosis: [Diagnosis]
    let results: [Result]

    func probes(_ verdict: String) -> Set<String> {
        Set(results.filter { $0.verdict == verdict }.map(\.probe))
    }

    func outcome(_ probe: String) -> String? {
        results.first { $0.probe == probe }?.outcome
    }
}

/// `sallyport audit` as a process.
struct Audit {
    let program: Program
    let capture: Capture

    init(
        _ options: [String], _ command: [String] = [], in folder: Folder,
        variables: [String: String] = [:]
    ) throws {
        capture = Capture(path: folder.path("audit.sallyport"), folder: folder)
        program = try Program(
            .sallyport,
            ["audit", "--json", "--capture", capture.path] + options
                + (command.isEmpty ? [] : ["--"] + command), in: folder, variables: variables,
            lastSignal: SIGTERM)
    }

    /// Waits for the end and the report.
    func answer(within limit: Duration = .seconds(240)) async throws -> (Int32, AuditAnswer) {
        let code = try await program.end(within: limit)
        guard let line = program.output.split(separator: 0x0A).last else {
            throw Trouble("no report: \(program.story)")
        }
        return (code, try JSONDecoder().decode(AuditAnswer.self, from: Data(line)))
    }

    /// Waits until its servers listen.
    func ready() async throws -> AuditReady {
        try await eventually("the ready line") {
            guard let line = program.output.split(separator: 0x0A).first else { return nil }
            return try JSONDecoder().decode(AuditReady.self, from: Data(line))
        }
    }
}

/// What an audit says when its servers listen.
struct AuditReady: Decodable {
    struct Port: Decodable {
        let name: String
        let listen: String
    }

    let ports: [Port]
    let ca: String
}
