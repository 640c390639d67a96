import Foundation

/// SHA-256 of contents, computed by the `openssl` command.
enum Digests {
    /// In hexadecimal, in the order of the files.
    static func of(_ paths: [String], in folder: Folder) async throws -> [String] {
        let answer = try await Program.run(.openssl, ["dgst", "-sha256", "-r"] + paths, in: folder)
        return String(decoding: answer, as: UTF8.self).split(separator: "\n").map {
            String($0.prefix { $0 != " " })
        }
    }
}
