import Foundation

/// An origin that tells which requests came to it, as they were on the wire.
final class RecordingOrigin: Sendable {
    let port: UInt16
    private let program: Program

    struct Request: Decodable, Sendable {
        let method: String
        let target: String
        /// Name and value, each byte a character.
        let fields: [[String]]
        let body: Data

        /// The values of each field by its name in lower case, those of a repeated one in one list.
        var values: [String: String] {
            fields.reduce(into: [:]) { values, field in
                let name = field[0].lowercased()
                let sign = name == "cookie" ? "; " : ", "
                values[name] = values[name].map { $0 + sign + field[1] } ?? field[1]
            }
        }
    }

    init(in folder: Folder) async throws {
        program = try Program(.python, [Peer.server("recorder.py")], in: folder)
        port = try await program.ready(as: UInt16.self)
    }

    var address: String { "127.0.0.1:\(port)" }

    /// All that came, in order.
    func requests() throws -> [Request] {
        try program.output.split(separator: UInt8(ascii: "\n")).dropFirst().map {
            try JSONDecoder().decode(Request.self, from: Data($0))
        }
    }
}
