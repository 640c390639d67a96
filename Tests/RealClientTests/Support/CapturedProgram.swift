import Foundation
import Testing

/// A program that is captured without having been told of the proxy.
struct CapturedProgram: Sendable, CustomTestStringConvertible {
    /// What the capture holds of it.
    enum Sight: Sendable {
        /// An exchange for each of these paths.
        case exchanges([String])
        /// What was said, decrypted; `upgrade` is the switch to TLS, `nil` for TLS from the start.
        case dialogue(String, upgrade: String?, says: String)
        /// The same of a program that speaks without TLS.
        case clear(String, says: String)
        /// Nothing, because the program trusts other certificates than the system.
        case refused
    }

    let name: String
    let peer: Peer
    let origin: String
    let port: Int
    /// The executable that connects, as its name begins.
    let process: String
    let sight: Sight
    /// The exit code of the command.
    var code: Int32 = 0
    /// What the command prints; `nil` if that is not the same each time.
    var prints: String? = "from the origin\n"
    let command: @Sendable (Folder) async throws -> [String]

    var testDescription: String { name }

    static let all = web + others

    private static let url = "https://web.test/hello.txt"
    private static let python = Peer.python.path ?? ""

    /// A client that fetches `url`.
    private static func fetch(
        _ name: String, _ peer: Peer, _ process: String, _ command: [String]
    ) -> Self {
        Self(
            name: name, peer: peer, origin: "web.test", port: 443, process: process,
            sight: .exchanges(["/hello.txt"])
        ) { _ in command + [url] }
    }

    private static func script(_ name: String) -> String { Peer.script("captured/\(name)") }

    private static let web: [Self] = [
        fetch("curl", .curl, "curl", ["curl", "-sS"]),
        fetch("wget", .wget, "wget", ["wget", "--quiet", "--output-document=-"]),
        fetch(
            "Python urllib", .python, "python",
            [
                python, "-c",
                "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode(), end='')",
            ]),
        fetch("Python aiohttp", .python, "python", [python, script("with-aiohttp.py")]),
        fetch("Node https", .node, "node", ["node", script("https.cjs")]),
        fetch("Node fetch", .node, "node", ["node", script("fetch.cjs")]),
        fetch("Node http2", .node, "node", ["node", script("http2.cjs")]),
        fetch(
            "Java HttpURLConnection", .java, "java",
            ["java", "-XX:TieredStopAtLevel=1", script("Connection.java")]),
        fetch(
            "Java HttpClient", .java, "java",
            ["java", "-XX:TieredStopAtLevel=1", script("Client.java")]),
        Self(
            name: "Swift URLSession", peer: .swiftCompiler, origin: "web.test", port: 443,
            process: "session", sight: .exchanges(["/hello.txt"])
        ) { folder in
            // Without optimization it is there in a few seconds.
            let source = try String(contentsOfFile: script("session.swift"), encoding: .utf8)
            let path = try folder.write("main.swift", source)
            let program = folder.path("session")
            try await Program.run(.swiftCompiler, [path, "-o", program], in: folder)
            return [program, url]
        },
        Self(
            name: "Go net/http", peer: .go, origin: "web.test", port: 443, process: "fetch",
            sight: .exchanges(["/hello.txt"])
        ) { folder in
            let program = folder.path("fetch")
            try await Program.run(.go, ["build", "-o", program, script("fetch.go")], in: folder)
            return [program, url]
        },
        Self(
            name: "curl that trusts one CA only", peer: .curl, origin: "web.test", port: 443,
            process: "curl", sight: .refused, code: 60, prints: ""
        ) { folder in
            let authority = CapturedWorld.current?.authority.certificatePath ?? ""
            return ["curl", "-sS", "--cacert", authority, "--capath", folder.path, url]
        },
    ]

    private static let others: [Self] = [
        Self(
            name: "Python grpcio", peer: .python, origin: "grpc.test", port: 8443,
            process: "python", sight: .exchanges(["/test.Echo/Say"]), prints: "echo of a request\n"
        ) { _ in [python, script("grpc-call.py"), "grpc.test:8443"] },
        Self(
            name: "git", peer: .git, origin: "git.test", port: 443, process: "git-remote-http",
            sight: .exchanges(["/project.git/info/refs?service=git-upload-pack"]), prints: ""
        ) { folder in
            ["git", "clone", "--quiet", "https://git.test/project.git", folder.path("clone")]
        },
        Self(
            name: "apt-get", peer: .apt, origin: "apt.test", port: 443, process: "http",
            sight: .exchanges(["/apt/./Packages"]), prints: nil
        ) { folder in
            // Its methods run as a user of their own, who has to get at these.
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: folder.path)
            for name in ["etc/apt.conf.d", "etc/preferences.d", "state/lists", "cache/archives"] {
                _ = try folder.folder("apt/\(name)")
            }
            try folder.write(
                "apt/etc/sources.list", "deb [trusted=yes] https://apt.test/apt ./\n")
            let places = ["Etc=etc", "State=state", "Cache=cache"].map { place in
                let parts = place.split(separator: "=")
                return ["-o", "Dir::\(parts[0])=\(folder.path("apt/\(parts[1])"))"]
            }
            return ["apt-get", "update", "-o", "Dir::State::status=/dev/null"]
                + places.flatMap(\.self)
        },
        Self(
            name: "psql", peer: .psql, origin: "postgres.test", port: 5432, process: "psql",
            sight: .dialogue("postgresql", upgrade: "SSLRequest", says: "from the origin")
        ) { _ in
            let store = "/etc/ssl/certs/ca-certificates.crt"
            return [
                "psql", "--no-psqlrc", "--no-align", "--tuples-only", "-c",
                "select 'from the origin'",
                "host=postgres.test user=tester dbname=postgres sslmode=verify-full"
                    + " sslrootcert=\(store)",
            ]
        },
        Self(
            name: "ldapsearch", peer: .ldapsearch, origin: "ldap.test", port: 389,
            process: "ldapsearch",
            sight: .dialogue("ldap", upgrade: "StartTLS", says: "entry of the origin"),
            prints: "dn: cn=entry,dc=test\ndescription: entry of the origin\n\n"
        ) { _ in
            ["ldapsearch", "-LLL", "-x", "-ZZ", "-H", "ldap://ldap.test", "-b", "dc=test"]
        },
        Self(
            name: "redis-cli", peer: .redisClient, origin: "redis.test", port: 6379,
            process: "redis-cli", sight: .clear("redis", says: "from the origin"),
            prints: "from the origin\nfrom the origin\n"
        ) { _ in
            // Twice, so that it is still there when it is asked whose the connection is: one command
            // is over in less time than a loaded machine takes to look.
            ["redis-cli", "-r", "2", "-i", "0.5", "-h", "redis.test", "echo", "from the origin"]
        },
        Self(
            name: "redis-cli with TLS", peer: .redisClient, origin: "redis.test", port: 6380,
            process: "redis-cli",
            sight: .dialogue("redis", upgrade: nil, says: "from the origin"),
            prints: "from the origin\nfrom the origin\n"
        ) { _ in
            [
                "redis-cli", "-r", "2", "-i", "0.5", "--tls", "-h", "redis.test", "-p", "6380",
                "echo", "from the origin",
            ]
        },
        Self(
            name: "mosquitto_pub", peer: .mosquittoClient, origin: "mqtt.test", port: 8883,
            process: "mosquitto_pub",
            sight: .dialogue("mqtt", upgrade: nil, says: "for the origin"), prints: ""
        ) { _ in
            [
                "mosquitto_pub", "-h", "mqtt.test", "-p", "8883", "--tls-use-os-certs", "-t",
                "topic", "-m", "for the origin",
            ]
        },
    ]
}
