import Foundation

/// Who logs in, everywhere.
enum Login {
    static let user = "tester"
    static let password = "s3cret-Pa55"
    /// As AUTH PLAIN has it (RFC 4616).
    static let plain = Data("\0\(user)\0\(password)".utf8).base64EncodedString()
}

/// A server for SMTP, IMAP, POP3 and FTP, each also with TLS from the start.
final class MailServer: Sendable {
    let folder: Folder
    let authority: TestAuthority
    /// By the scheme: `smtp`, `smtps` and so on.
    let ports: [String: UInt16]
    private let program: Program

    init() async throws {
        folder = try Folder()
        authority = try await TestAuthority(in: folder)
        program = try Program(
            .python,
            [
                Peer.server("mail-and-files.py"), authority.leafPath, authority.leafKeyPath,
                try folder.folder("files"),
            ], in: folder)
        ports = try await program.ready(as: [String: UInt16].self)
    }

    func address(_ scheme: String) -> String { "localhost:\(ports[scheme] ?? 0)" }
}

/// A database server with a user and TLS.
final class DatabaseServer: Sendable {
    let folder: Folder
    let authority: TestAuthority
    let port: UInt16
    private let program: Program

    /// - Parameter kind: `postgresql` or `mariadb`.
    init(_ kind: String) async throws {
        folder = try Folder()
        authority = try await TestAuthority(in: folder)
        program = try Program(
            .python,
            [
                Peer.server("database.py"), kind, authority.leafPath, authority.leafKeyPath,
                folder.path, Login.user, Login.password,
            ], in: folder, lastSignal: SIGTERM)
        port = try await program.ready(as: UInt16.self)
    }

    /// Ends it, so that its folder can be removed.
    func end() async throws {
        program.send(SIGTERM)
        _ = try await program.end()
    }
}

extension Capture {
    /// What one side said on a connection, in order.
    func said(
        _ connection: Connection, _ direction: String, withSecrets: Bool = true
    ) async throws -> Data {
        let messages = try await messages(connection.id, withSecrets: withSecrets)
        return messages.filter { $0.direction == direction }.reduce(Data()) { $0 + $1.content }
    }
}

extension Data {
    func holds(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
