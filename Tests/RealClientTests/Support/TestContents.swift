import Foundation

/// Contents of every size that matters, in a folder with a CA, and how a capture has them.
struct TestContents: Sendable {
    static let sizes = [
        "empty.bin": 0, "byte.bin": 1, "small.bin": 100_000, "large.bin": 10_000_000,
    ]
    static let names = ["empty.bin", "byte.bin", "small.bin", "large.bin"]

    let folder: Folder
    let authority: TestAuthority
    /// The SHA-256 of each part that a capture makes of a content, with commas between.
    private let digests: [String: String]
    /// In bytes.
    private static let partSize = 256 * 1024

    init() async throws {
        folder = try Folder()
        authority = try await TestAuthority(in: folder)
        _ = try folder.folder("uploaded")
        var parts: [String] = []
        var owners: [String] = []
        for name in Self.names {
            let content = try Bytes.random(atMost: Self.sizes[name] ?? 0)
            try folder.write("www/\(name)", content)
            for start in stride(from: 0, to: content.count, by: Self.partSize) {
                let part = content[start..<min(start + Self.partSize, content.count)]
                parts.append(try folder.write("parts/\(parts.count)", Data(part)))
                owners.append(name)
            }
        }
        let found = try await Digests.of(parts, in: folder)
        digests = Dictionary(grouping: zip(owners, found), by: \.0).mapValues {
            $0.map { $0.1 }.joined(separator: ",")
        }
    }

    func path(of name: String) -> String { folder.path("www/\(name)") }

    /// - Returns: an empty text for no content.
    func digest(of name: String?) -> String { name.flatMap { digests[$0] } ?? "" }

    /// Whether a file is the same, byte for byte; no file is as good as an empty one.
    func isEqual(_ name: String, to path: String) -> Bool {
        let files = FileManager.default
        if Self.sizes[name] == 0, !files.fileExists(atPath: path) { return true }
        return files.contentsEqual(atPath: self.path(of: name), andPath: path)
    }
}

extension Bytes {
    static func random(atMost count: Int) throws -> Data {
        count == 0 ? Data() : try random(count)
    }
}
