import Foundation
import Testing

extension RealClientTests {
    /// Logins with Kerberos at `sallyport content`, with a KDC of our own.
    struct ContentNegotiateTests {
        /// Who has a ticket is let in under its name, and learns that the server is the right one;
        /// nobody else is, not even with an empty token, which starts a login and proves nothing.
        @Test(.needs(.curl, .kdc)) func letsInWhoHasATicket() async throws {
            let folder = try Folder()
            let realm = try await Realm(in: folder)
            let content = try await ContentProcess(in: folder, variables: realm.variables)
            func curl(_ arguments: [String]) async throws -> String {
                String(
                    decoding: try await Program.run(
                        .curl, ["-sS", "-w", "%{http_code}"] + arguments, in: folder,
                        variables: realm.variables), as: UTF8.self)
            }
            let place = "http://localhost:\(content.port)/negotiate"
            let login = ["--negotiate", "-u", ":"]
            let early = try await curl(login + [place])
            #expect(early.hasSuffix("401"), "\(early)")
            try await realm.login()
            let found = try await curl(login + ["-D", "head", place])
            #expect(found.contains(#""user":"alice@SALLYPORT.TEST""#), "\(found)")
            #expect(found.hasSuffix("200"))
            let head = try String(contentsOfFile: folder.path("head"), encoding: .utf8)
            let proofs = head.components(separatedBy: "WWW-Authenticate: Negotiate ")
            #expect(proofs.count == 2 && (proofs.last?.count ?? 0) > 40, "\(head)")
            for token in ["", " ", " !", " AAAA", " \(Self.emptyLogin)"] {
                let refused = try await curl(["-H", "Authorization: Negotiate\(token)", place])
                #expect(refused.hasSuffix("401"), "\(token): \(refused)")
            }
            // The ticket is for another name.
            let other = try await curl(login + ["\(content.url)/negotiate"])
            #expect(other.hasSuffix("401"), "\(other)")
            try await content.end()
        }

        /// A NegTokenInit that offers Kerberos and has no token of it.
        private static let emptyLogin = "YBsGBisGAQUFAqARMA+gDTALBgkqhkiG9xIBAgI="

        /// The token may be bound to the TLS connection, and has to be where that is demanded, as no
        /// proxy that intercepts can do.
        @Test(
            .needs(.curl, .kdc, .python),
            arguments: [
                ("right", "required", "200", #""bound":true"#),
                ("right", "", "200", #""bound":true"#),
                ("none", "required", "401", "not bound"), ("none", "", "200", #""bound":false"#),
                ("wrong", "required", "401", "channel bindings"),
                ("wrong", "", "401", "channel bindings"),
            ])
        func demandsABoundToken(
            _ kind: String, _ binding: String, _ status: String, _ part: String
        ) async throws {
            let folder = try Folder()
            let realm = try await Realm(in: folder)
            try await realm.login()
            let content = try await ContentProcess(in: folder, variables: realm.variables)
            let said = try await Program.run(
                .python,
                [
                    Peer.script("bound-login.py"), String(content.securePort),
                    content.authorityPath, "/negotiate?binding=\(binding)", kind,
                ], in: folder, variables: realm.variables)
            let text = String(decoding: said, as: UTF8.self)
            #expect(text.hasPrefix(status) && text.lowercased().contains(part), "\(text)")
            try await content.end()
        }

        /// A KDC as a process of its own.
        private struct Realm {
            let variables: [String: String]
            private let folder: Folder
            private let program: Program

            init(in folder: Folder) async throws {
                self.folder = folder
                let place = try folder.folder("realm")
                variables = [
                    "KRB5_CONFIG": "\(place)/krb5.conf", "KRB5CCNAME": "\(place)/tickets",
                    "KRB5_KTNAME": "\(place)/keytab", "KRB5RCACHETYPE": "none",
                    "PATH": (Peer.variables["PATH"] ?? "/usr/bin:/bin") + ":/usr/sbin",
                ]
                let program = try Program(
                    .bash, [Peer.server("kdc.sh"), place], in: folder, variables: variables)
                _ = try await eventually("a KDC") {
                    guard program.isRunning else { throw Trouble(program.story) }
                    return String(decoding: program.output + program.errors, as: UTF8.self)
                        .contains("starting") ? true : nil
                }
                self.program = program
            }

            func login() async throws {
                let keys = variables["KRB5_KTNAME"].map { "\($0.dropLast(6))alice.keytab" } ?? ""
                try await Program.run(
                    .kinit, ["-k", "-t", keys, "alice"], in: folder, variables: variables)
            }
        }
    }
}
