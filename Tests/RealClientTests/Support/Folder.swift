import Foundation

/// A private folder of one test, removed with the value.
final class Folder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("sallyport-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            print("cannot remove \(url.path): \(error)")
        }
    }

    var path: String { url.path }

    func path(_ name: String) -> String {
        url.appendingPathComponent(name).path
    }

    /// Makes a folder inside, with those above it.
    func folder(_ name: String) throws -> String {
        let folder = url.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.path
    }

    /// Writes a file, with the folders above it.
    @discardableResult
    func write(_ name: String, _ content: Data) throws -> String {
        let file = url.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try content.write(to: file)
        return file.path
    }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try write(name, Data(text.utf8))
    }
}
