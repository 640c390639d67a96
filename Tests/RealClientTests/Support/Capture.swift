import Foundation

/// What `sallyport` says of a capture file.
struct Capture: Sendable {
    let path: String
    let folder: Folder

    /// A line of `flows list --json`.
    struct Flow: Decodable, Equatable, Sendable {
        let schema: String
        let id: Int64
        let method: String?
        /// `nil` for an exchange whose head is missing.
        private let address: String?
        let status: Int?
        let requestBytes: Int64
        let responseBytes: Int64
        let durationMs: Double?
        let error: String?

        var url: String { address ?? "" }

        private enum CodingKeys: String, CodingKey {
            case schema, id, method, status, requestBytes, responseBytes, durationMs, error
            case address = "url"
        }
    }

    /// A line of `connections --json`.
    struct Connection: Decodable, Sendable {
        let schema: String
        let id: Int64
        let host: String?
        let sni: String?
        let tlsVersion: String?
        let outcome: String
        let cause: String?
        let alert: String?
        let closedBy: String?
        let exchanges: Int64
        let mode: String
        let originTlsVersion: String?
        let upgrade: String?
        let `protocol`: String?
        let notes: [Note]
        let port: Int?
        let ja4: String?
        let process: Process?
    }

    struct Process: Decodable, Sendable {
        let name: String?
    }

    struct Note: Decodable, Sendable {
        let code: String
        let detail: String
    }

    /// A line of `flows list --transfers --json`.
    struct Transfer: Decodable, Sendable {
        struct Version: Decodable, Sendable {
            let state: String
            let etag: String?
            let sameness: String?
            let total: Int64?
            let sha256: String?
        }

        struct Part: Decodable, Sendable {
            let exchange: Int64
            let status: Int?
            let asked: String?
            let endedEarly: Bool
        }

        let schema: String
        let url: String
        let state: String
        let versions: [Version]
        let parts: [Part]
    }

    /// A line of `messages --json`.
    struct Message: Decodable, Sendable {
        let schema: String
        let direction: String
        let kind: String
        let text: String?
        let base64: String?
        let masked: Bool

        var content: Data {
            text.map { Data($0.utf8) } ?? Data(base64Encoded: base64 ?? "") ?? Data()
        }
    }

    func flows(filter: String? = nil) async throws -> [Flow] {
        try await lines(["flows", "list", path] + (filter.map { ["--filter", $0] } ?? []))
    }

    func transfers() async throws -> [Transfer] {
        try await lines(["flows", "list", path, "--transfers"])
    }

    func connections() async throws -> [Connection] {
        try await lines(["connections", path])
    }

    func messages(_ connection: Int64, withSecrets: Bool) async throws -> [Message] {
        try await lines(
            ["messages", path, "\(connection)"] + (withSecrets ? ["--with-secrets"] : []))
    }

    /// What was said on a connection, with the secrets, in one.
    func dialogue(_ connection: Int64) async throws -> Data {
        try await messages(connection, withSecrets: true).reduce(into: Data()) { $0 += $1.content }
    }

    func show(_ id: Int64, _ part: String, _ options: [String] = []) async throws -> Data {
        try await Program.run(
            .sallyport, ["flows", "show", path, "\(id)", "--part", part] + options, in: folder)
    }

    /// What the file says of itself to the `sqlite3` command.
    func query(_ statement: String) async throws -> String {
        let answer = try await Program.run(.sqlite, [path, statement], in: folder)
        return String(decoding: answer, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    private func lines<Line: Decodable>(_ arguments: [String]) async throws -> [Line] {
        let output = try await Program.run(.sallyport, arguments + ["--json"], in: folder)
        let decoder = JSONDecoder()
        return try output.split(separator: UInt8(ascii: "\n")).map {
            try decoder.decode(Line.self, from: Data($0))
        }
    }
}

extension Capture {
    /// The connections to a host that the client refused, once there is one and none is open.
    func refusals(of host: String) async throws -> [Connection] {
        try await eventually("a refusal in the capture") {
            let connections = try await connections().filter { $0.host == host }
            if connections.contains(where: { $0.outcome == "open" }) { return nil }
            let refused = connections.filter { $0.outcome == "client-refused" }
            return refused.isEmpty ? nil : refused
        }
    }
}
