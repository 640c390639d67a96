import Foundation
import Testing

extension RealClientTests {
    /// Clients for mail and files, through their switch to TLS.
    struct MailTests {
        @Test(.needs(.python, .curl), arguments: MailClient.secured)
        func loginIsDecrypted(_ client: MailClient) async throws {
            let server = try await MailServer()
            try server.folder.write("files/a.bin", Bytes.random(50_000))
            let folder = try Folder()
            let (proxy, program) = try await client.start(server, in: folder)
            #expect(try await program.end() == 0, "\(program.story)")
            try await proxy.end()

            let connection = try await proxy.capture.dialogue(client.protocolName)
            #expect(connection.outcome == "completed", "\(connection.cause ?? "")")
            #expect(connection.mode == client.way.rawValue)
            #expect(connection.upgrade == client.upgrade)
            #expect(connection.tlsVersion == "TLSv1.3")
            #expect(connection.originTlsVersion == "TLSv1.3")
            #expect(!connection.notes.contains { $0.code == "plaintext-login" })
            try await Self.expectLogin(client.secret, connection, proxy.capture)
        }

        @Test(.needs(.python, .curl), arguments: MailClient.plain)
        func plainLoginIsNoted(_ client: MailClient) async throws {
            let server = try await MailServer()
            try server.folder.write("files/a.bin", "a")
            let folder = try Folder()
            let (proxy, program) = try await client.start(server, in: folder)
            #expect(try await program.end() == 0, "\(program.story)")
            try await proxy.end()

            let connection = try await proxy.capture.dialogue(client.protocolName)
            #expect(connection.outcome == "completed")
            #expect(connection.upgrade == nil)
            #expect(connection.tlsVersion == nil)
            #expect(connection.notes.contains { $0.code == "plaintext-login" })
            try await Self.expectLogin(client.secret, connection, proxy.capture)
        }

        @Test(.needs(.python, .curl), arguments: MailClient.secured)
        func distrustIsRecorded(_ client: MailClient) async throws {
            let server = try await MailServer()
            let folder = try Folder()
            let (proxy, program) = try await client.start(server, in: folder, trusts: false)
            #expect(try await program.end() != 0, "\(program.story)")
            let connection = try #require(
                try await proxy.capture.refusals(of: "localhost").first)
            try await proxy.end()
            #expect(connection.upgrade == client.upgrade)
            #expect(connection.closedBy == "client")
            #expect(connection.alert == "unknown_ca")
            let said = try await proxy.capture.said(connection, "request")
            #expect(!said.holds(client.secret))
        }

        /// Expects the secret in the record, and not where it is shown without being asked for.
        static func expectLogin(
            _ secret: String, _ connection: Capture.Connection, _ capture: Capture
        ) async throws {
            let said = try await capture.said(connection, "request")
            #expect(said.holds(secret), "\(String(decoding: said, as: UTF8.self))")
            let masked = try await capture.said(connection, "request", withSecrets: false)
            #expect(!masked.holds(secret))
            #expect(!masked.holds(Login.password))
            #expect(masked.holds("***"))
        }
    }
}

extension Capture {
    /// The only connection on which a protocol was spoken.
    func dialogue(_ name: String) async throws -> Connection {
        let all = try await connections()
        let found = all.filter { $0.protocol == name }
        guard let first = found.first, found.count == 1 else {
            throw Trouble("\(found.count) connections with \(name): \(all)")
        }
        return first
    }
}
