package import Base
internal import Contents

/// What was found right before it is delivered, to be known again behind a crash.
package struct VerifiedContent: Sendable, Equatable {
    /// Of a file here.
    private struct Place: Equatable {
        let inode: UInt64
        /// When it was written to last, in nanoseconds since 1970; outlasts a rename, as the inode does.
        let modified: Int64
        /// When anything of it was changed last, its names too; 0 for what is not delivered.
        var changed: Int64
    }

    /// In bytes.
    package let size: Int64
    /// `nil` where none was taken: `TransferLimits.digestedSize`.
    package let sha256: [UInt8]?
    private var place: Place?

    package init(size: Int64, sha256: [UInt8]?, in file: FileIdentity? = nil) {
        self.size = size
        self.sha256 = sha256
        place = file.map { Place(inode: $0.inode, modified: $0.modified, changed: 0) }
    }

    /// The same, once the file has its name.
    func delivered(_ file: FileIdentity) -> VerifiedContent {
        var content = self
        content.place?.changed = file.changed
        return content
    }

    /// Whether a file of this size is the one, and was not written to since, as its time says.
    func isIn(_ file: FileIdentity) -> Bool {
        place?.inode == file.inode && place?.modified == file.modified
    }

    /// Whether nobody can have written to the file since it was delivered, whatever its time says.
    func isUntouched(_ file: FileIdentity) -> Bool {
        isIn(file) && place?.changed == file.changed
    }

    var journal: JSONText {
        .sparse([
            "sha256": .optional(sha256?.hex), "size": .integer(size),
            "inode": .optional(place.map { Int64(bitPattern: $0.inode) }),
            "modified": .optional(place?.modified),
            "changed": .optional(place.flatMap { $0.changed == 0 ? nil : $0.changed }),
        ])
    }

    init?(_ value: JSONObject) {
        guard let size = value.integer("size"), size >= 0 else { return nil }
        self.size = size
        sha256 = value.bytes("sha256")
        if let inode = value.integer("inode"), let modified = value.integer("modified") {
            place = Place(
                inode: UInt64(bitPattern: inode), modified: modified,
                changed: value.integer("changed") ?? 0)
        }
        guard sha256 != nil || place != nil else { return nil }
    }
}
