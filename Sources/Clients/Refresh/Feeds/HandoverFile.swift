package import Base

/// Writes down which files are to be fetched, one a line, for a transfer client that reads them.
///
/// `@unchecked Sendable`: used on the client's loop.
package final class HandoverFile: AssetHandover, @unchecked Sendable {
    private let path: String
    /// In bytes: beyond, nobody seems to read it.
    private static let byteLimit = 16 << 20
    private var size: Int

    /// Errors: `file-unreadable`.
    package init(_ path: String) throws(Failure) {
        self.path = path
        size = Files.exists(path) ? try Files.read(path, byteLimit: 2 * Self.byteLimit).count : 0
    }

    package func take(_ asset: HandedAsset) async throws(Failure) {
        let line: JSONText = [
            "url": .string(asset.url), "name": .string(asset.name),
            "bytes": .optional(asset.size), "discretionary": .boolean(asset.isDiscretionary),
        ]
        let bytes = line.line + [0x0A]
        guard size + bytes.count <= Self.byteLimit else {
            throw Failure(
                "handover-full", party: .tool, "nobody takes the files in \(path)",
                hint: "fetch them, and remove it")
        }
        try Files.append(path, bytes)
        size += bytes.count
    }
}
