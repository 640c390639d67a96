import Foundation

/// What the client of Node.js has to do: see `Clients/http2-client.cjs`.
struct NodeJob: Encodable, Sendable {
    var method = "GET"
    var path: String
    var fields: [String: String] = [:]
    var upload: String?
    var trailers: [String: String]?
    var output: String?
    /// Whether to note when each piece comes.
    var timed: Bool?
}

/// What came of it.
struct NodeResult: Decodable, Sendable {
    struct Interim: Decodable, Equatable, Sendable {
        let status: Int
        let link: String?
    }

    let path: String
    let status: Int
    let interims: [Interim]
    let fields: [String: String]
    let trailers: [String: String]
    let text: String?
    /// When each piece came, in nanoseconds, and the piece.
    let times: [[String]]
}

/// One run of it.
struct NodePlan: Encodable, Sendable {
    var url: String
    var server: String?
    var version: Int
    var tunnel: String?
    var absolute: Bool?
    var ca: String
    var jobs: [NodeJob]

    func run(in folder: Folder) async throws -> [NodeResult] {
        let plan = String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
        let output = try await Program.run(
            .node, [Peer.script("http2-client.cjs"), plan], in: folder)
        return try output.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(NodeResult.self, from: Data($0))
        }
    }
}

extension Pairing {
    func runNode(_ jobs: [NodeJob], on way: Way, in folder: Folder) async throws -> [NodeResult] {
        let tunnel: String? =
            switch entry {
            case .connect: "http1"
            case .connectOverHTTP2: "http2"
            case .absolute, .reverse, .reverseWithTLS: nil
            }
        let plan = NodePlan(
            url: way.url, server: way.proxy, version: version == .http1 ? 1 : 2, tunnel: tunnel,
            absolute: entry == .absolute, ca: way.authority, jobs: jobs)
        return try await plan.run(in: folder)
    }
}
