import Foundation
import Testing

extension RealClientTests {
    /// What a command is told by variables adds a CA to those that it trusts. None of them may
    /// switch a check off: LWP, for one, looks at no names where HTTPS_CA_FILE is set.
    struct AuditVariableTests {
        struct Row: Sendable, CustomTestStringConvertible {
            let variable: String
            let peer: Peer
            var port = 443
            let command: [String]
            /// Whether the client trusts the audit's CA by that variable alone; else it is told by
            /// SSL_CERT_FILE besides, and this one has to change nothing.
            var leads = true
            var testDescription: String { "\(variable), \(command[0])" }

            init(
                _ variable: String, _ peer: Peer, port: Int = 443, leads: Bool = true,
                _ command: String...
            ) {
                self.variable = variable
                self.peer = peer
                self.port = port
                self.leads = leads
                self.command = command
            }
        }

        private static var python: String { Peer.python.path ?? "python3" }
        private static let lwp = """
            my $answer = LWP::UserAgent->new(timeout => 10)->get(shift);
            die $answer->status_line unless $answer->is_success;
            print $answer->content;
            """
        private static let grpc = """
            import grpc, sys
            channel = grpc.secure_channel(sys.argv[1], grpc.ssl_channel_credentials())
            channel.unary_unary("/a.B/C")(b"", timeout=3)
            """

        static let rows: [Row] = [
            Row("SSL_CERT_FILE", .curl, "curl", "-s", "{url}"),
            Row("SSL_CERT_FILE", .ruby, "ruby", Peer.script("audited/tls.rb"), "default", "{url}"),
            Row(
                "SSL_CERT_FILE", .python, python, Peer.script("audited/tls.py"), "default",
                "{host}", "{port}"),
            Row("GIT_SSL_CAINFO", .git, "git", "ls-remote", "{url}project"),
            Row("WGETRC", .wget, "wget", "-q", "-t1", "-O-", "{url}"),
            Row(
                "APT_CONFIG", .apt, "/usr/lib/apt/apt-helper", "-o", "Acquire::Retries=0",
                "download-file", "{url}", "fetched"),
            Row(
                "PHP_INI_SCAN_DIR", .php, "php", Peer.script("audited/tls.php"), "default", "{url}"),
            Row(
                "NODE_EXTRA_CA_CERTS", .node, "node", Peer.script("audited/tls.cjs"), "default",
                "{url}"),
            Row("PERL_LWP_SSL_CA_FILE", .lwp, "perl", "-MLWP::UserAgent", "-e", lwp, "{url}"),
            Row(
                "REQUESTS_CA_BUNDLE", .python, python, Peer.script("audited/requests_client.py"),
                "default", "{url}"),
            Row(
                "PIP_CERT", .python, python, "-m", "pip", "download", "--no-cache-dir",
                "--disable-pip-version-check", "--no-deps", "--retries", "0", "--timeout", "10",
                "--index-url", "{url}", "nothing"),
            Row(
                "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", .python, python, "-c", grpc, "{host}:{port}"),
            Row(
                "LDAPTLS_CACERT", .ldapsearch, port: 636, "ldapsearch", "-x", "-H",
                "ldaps://{host}:{port}", "-b", "", "-s", "base"),
            Row(
                "JAVA_TOOL_OPTIONS", .java, "java", "-XX:TieredStopAtLevel=1",
                Peer.script("audited/Audited.java"), "default", "{url}"),
            Row(
                "CURL_CA_BUNDLE", .curl, "curl", "-s", "{url}"),
            // Nobody who reads these is among the clients of the tests.
            Row("NIX_SSL_CERT_FILE", .curl, leads: false, "curl", "-s", "{url}"),
            Row("AWS_CA_BUNDLE", .curl, leads: false, "curl", "-s", "{url}"),
            Row("DENO_CERT", .curl, leads: false, "curl", "-s", "{url}"),
            Row("CARGO_HTTP_CAINFO", .curl, leads: false, "curl", "-s", "{url}"),
            Row("BUNDLE_SSL_CA_CERT", .curl, leads: false, "curl", "-s", "{url}"),
            Row("MOJO_CA_FILE", .curl, leads: false, "curl", "-s", "{url}"),
            Row("HTTPLIB2_CA_CERTS", .curl, leads: false, "curl", "-s", "{url}"),
            Row("CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", .curl, leads: false, "curl", "-s", "{url}"),
        ]

        private static let probes = [
            "trust-self-signed", "trust-unknown-root", "name-wrong-host", "time-expired",
        ].flatMap { ["--probe", $0] }

        /// A client that is careful by default, with that variable and none of the others.
        @Test(.needs(), arguments: rows)
        func leavesACarefulClientCareful(_ row: Row) async throws {
            try row.peer.needed(for: "\(row)")
            let folder = try Folder()
            let told = row.leads ? [row.variable] : [row.variable, "SSL_CERT_FILE"]
            let words = told.map { "\($0)=\"$\($0)\"" }.joined(separator: " ")
            let script =
                "exec env -i PATH=\"$PATH\" HOME=\"$HOME\" TMPDIR=\"$TMPDIR\" \(words) \"$@\""
            let audit = try Audit(
                Self.probes + ["--jobs", "2", "--port", "\(row.port)", "--trust", "env"],
                ["sh", "-c", script, "sh"] + row.command, in: folder,
                variables: Self.inherited(row.variable))
            let (_, answer) = try await audit.answer()
            #expect(answer.outcome("control-good") == "accepted", "\(audit.program.story)")
            #expect(answer.probes("fail").isEmpty, "\(audit.program.story)")
            #expect(answer.probes("inconclusive").isEmpty, "\(audit.program.story)")
        }

        /// Some are only told where the caller has them already.
        private static func inherited(_ name: String) -> [String: String] {
            conditional.contains(name) ? [name: "/etc/ssl/certs/ca-certificates.crt"] : [:]
        }

        private static let conditional = [
            "CURL_CA_BUNDLE", "HTTPLIB2_CA_CERTS", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
        ]

        /// Lead programs to a proxy, or past none, and say nothing of trust.
        private static let ways: Set<String> = [
            "http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
            "WS_PROXY", "WSS_PROXY", "GLOBAL_AGENT_HTTP_PROXY", "CGI_HTTP_PROXY",
            "npm_config_proxy", "npm_config_https_proxy", "no_proxy", "NO_PROXY",
            "PERL_LWP_ENV_PROXY", "MOJO_PROXY",
        ]

        /// A variable that is added without a row would be tried by nobody.
        @Test(.needs(), arguments: ["run", "audit"])
        func everyVariableHasARow(_ command: String) async throws {
            let folder = try Folder()
            let inherited = Dictionary(
                uniqueKeysWithValues: Self.conditional.map {
                    ($0, "/etc/ssl/certs/ca-certificates.crt")
                })
            let before = try await variables([], inherited, folder)
            let options =
                command == "run"
                ? ["run", "--capture", folder.path("run.sallyport")]
                : ["audit", "--capture", folder.path("audit.sallyport"), "--probe", "control-good"]
            let after = try await variables(
                [Peer.sallyport.path ?? ""] + options + ["--"], inherited, folder)
            let changed = after.filter { before[$0.key] != $0.value }.keys
            let unknown = Set(changed).subtracting(Self.rows.map(\.variable)).subtracting(Self.ways)
            #expect(unknown == [] && changed.contains("SSL_CERT_FILE"))
        }

        /// LWP takes these for a wish to look at no names.
        @Test(.needs(), arguments: ["HTTPS_CA_FILE", "HTTPS_CA_DIR"])
        func whatWeakensIsNotPassedOn(_ name: String) async throws {
            let folder = try Folder()
            let inherited = [name: "/etc/ssl/certs"]
            let after = try await variables(
                [
                    Peer.sallyport.path ?? "", "run", "--capture", folder.path("run.sallyport"),
                    "--",
                ], inherited, folder)
            #expect(after[name] == nil && after["SSL_CERT_FILE"] != nil)
        }

        /// With all of them, those of a proxy as well, as `run` sets them.
        @Test(
            .needs(),
            arguments: [
                Row("all", .lwp, "perl", "-MLWP::UserAgent", "-e", lwp, "https://www.shop.test/"),
                Row("all", .curl, "curl", "-s", "https://www.shop.test/"),
                Row("all", .wget, "wget", "-q", "-t1", "-O-", "https://www.shop.test/"),
                Row(
                    "all", .python, python, Peer.script("audited/requests_client.py"), "default",
                    "https://www.shop.test/"),
            ])
        func allOfThemLeaveACarefulClientCareful(_ row: Row) async throws {
            try row.peer.needed(for: "\(row)")
            let folder = try Folder()
            let audit = try Audit(
                Self.probes + ["--no-namespaces"], row.command, in: folder,
                variables: ["HTTPS_CA_FILE": "/etc/ssl/certs/ca-certificates.crt"])
            let (_, answer) = try await audit.answer()
            #expect(answer.outcome("control-good") == "accepted", "\(audit.program.story)")
            #expect(answer.probes("fail").isEmpty, "\(audit.program.story)")
        }

        /// - Parameter starter: what starts the program that is told them.
        private func variables(
            _ starter: [String], _ added: [String: String], _ folder: Folder
        ) async throws -> [String: String] {
            let file = folder.path("variables-\(UUID().uuidString)")
            let program = try Program(
                Peer("env"), starter + ["sh", "-c", "env -0 >\"$0\"", file], in: folder,
                variables: added)
            _ = try await program.end()
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let pairs = text.split(separator: "\0").map { line in
                line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            }
            return Dictionary(pairs.map { (String($0[0]), String($0.last ?? "")) }) { $1 }
        }
    }
}
