import Foundation
import Testing

extension RealClientTests {
    /// Clients of databases, through their switch to TLS.
    struct DatabaseTests {
        @Test(.needs(.python, .psql, .initdb)) func postgresql() async throws {
            let server = try await DatabaseServer("postgresql")
            for (mode, trusts) in [
                ("require", true), ("verify-full", true), ("verify-full", false), ("disable", true),
            ] {
                let folder = try Folder()
                let proxy = try await server.proxy(in: folder)
                let isServed = trusts || mode == "require"
                let client = try Program(
                    .psql,
                    [
                        "host=localhost port=\(proxy.port) user=\(Login.user) dbname=postgres"
                            + " sslmode=\(mode) connect_timeout=20", "-XAtc", "select 6*7",
                    ], in: folder,
                    variables: [
                        "PGPASSWORD": Login.password,
                        "PGSSLROOTCERT": mode == "require"
                            ? "" : server.certificate(proxy, trusts: trusts),
                    ])
                #expect((try await client.end() == 0) == isServed, "\(mode): \(client.story)")
                #expect(client.output == Data(isServed ? "42\n".utf8 : "".utf8))
                if isServed {
                    try await proxy.end()
                    try await Self.expectLogin(
                        "postgresql", Login.password, isSecured: mode != "disable", proxy.capture)
                } else {
                    try await Self.expectRefusal(proxy)
                }
            }
            try await server.end()
        }

        @Test(.needs(.python, .mariadb, .mariadbServer)) func mysql() async throws {
            let server = try await DatabaseServer("mariadb")
            for client in MySQLClient.all {
                let folder = try Folder()
                let proxy = try await server.proxy(in: folder)
                let authority = server.certificate(proxy, trusts: client.trusts)
                let program = try Program(
                    client.peer, client.arguments(proxy.port, authority), in: folder)
                let code = try await program.end()
                #expect((code == 0) == client.trusts, "\(client.name): \(program.story)")
                if client.trusts {
                    #expect(String(decoding: program.output, as: UTF8.self).contains("42"))
                    try await proxy.end()
                    try await Self.expectLogin(
                        "mysql", nil, isSecured: client.isSecured, proxy.capture)
                } else {
                    try await Self.expectRefusal(proxy)
                }
            }
            try await server.end()
        }

        /// - Parameter secret: what the client sent to log in, if it is known.
        private static func expectLogin(
            _ name: String, _ secret: String?, isSecured: Bool, _ capture: Capture
        ) async throws {
            let connection = try await capture.dialogue(name)
            #expect(connection.outcome == "completed", "\(connection.cause ?? "")")
            #expect(connection.upgrade == (isSecured ? "SSLRequest" : nil))
            #expect((connection.tlsVersion != nil) == isSecured)
            #expect((connection.originTlsVersion != nil) == isSecured)
            let isNoted = connection.notes.contains { $0.code == "plaintext-login" }
            #expect(isNoted == (!isSecured && secret != nil))
            let said = try await capture.said(connection, "request")
            #expect(said.holds(Login.user))
            #expect(said.holds(name == "mysql" ? "select 6" : "select 6*7"))
            let masked = try await capture.said(connection, "request", withSecrets: false)
            #expect(masked.holds("***"))
            #expect(masked != said)
            if let secret {
                #expect(said.holds(secret))
                #expect(!masked.holds(secret))
            }
        }

        private static func expectRefusal(_ proxy: ProxyProcess) async throws {
            let refusals = try await proxy.capture.refusals(of: "localhost")
            try await proxy.end()
            #expect(refusals.allSatisfy { $0.upgrade == "SSLRequest" && $0.closedBy == "client" })
            for refusal in refusals {
                let said = try await proxy.capture.said(refusal, "request")
                #expect(!said.holds(Login.user))
            }
        }
    }
}

private struct MySQLClient: Sendable {
    let name: String
    let peer: Peer
    var trusts = true
    var isSecured = true
    let arguments: @Sendable (_ port: String, _ authority: String) -> [String]

    static let all = [
        MySQLClient(name: "PyMySQL", peer: .python, arguments: pymysql),
        MySQLClient(name: "PyMySQL, distrusting", peer: .python, trusts: false, arguments: pymysql),
        MySQLClient(name: "mariadb", peer: .mariadb, arguments: mariadb),
        MySQLClient(
            name: "mariadb, distrusting", peer: .mariadb, trusts: false, arguments: mariadb),
        MySQLClient(name: "mariadb, plain", peer: .mariadb, isSecured: false) { port, _ in
            common(port) + ["--skip-ssl"]
        },
    ]

    @Sendable private static func pymysql(_ port: String, _ authority: String) -> [String] {
        [Peer.script("with-pymysql.py"), port, authority, Login.user, Login.password]
    }

    @Sendable private static func mariadb(_ port: String, _ authority: String) -> [String] {
        common(port) + ["--ssl", "--ssl-ca=\(authority)", "--ssl-verify-server-cert"]
    }

    private static func common(_ port: String) -> [String] {
        [
            "--no-defaults", "--protocol=tcp", "--host=localhost", "--port=\(port)",
            "--user=\(Login.user)", "--password=\(Login.password)", "-e", "select 6*7",
        ]
    }
}

extension DatabaseServer {
    /// A proxy in front of it.
    fileprivate func proxy(in folder: Folder) async throws -> ProxyProcess {
        try await ProxyProcess(
            trusting: authority, reverse: "tcp://localhost:\(port)", in: folder)
    }

    /// The CA that a client is given.
    fileprivate func certificate(_ proxy: ProxyProcess, trusts: Bool) -> String {
        trusts ? proxy.authorityPath : authority.certificatePath
    }
}

extension ProxyProcess {
    fileprivate var port: String { address.split(separator: ":").last.map(String.init) ?? "" }
}
