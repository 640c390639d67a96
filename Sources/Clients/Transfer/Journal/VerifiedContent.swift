package import Base
internal import Contents

/// What was found right before it is delivered, to be known again behind a crash.
package struct VerifiedContent: Sendable, Equatable {
    /// In bytes.
    package let size: Int64
    /// `nil` where none was taken: `TransferLimits.digestedSize`.
    package let sha256: [UInt8]?
    /// Of the file, and when it was changed last, in nanoseconds since 1970, which both outlast a rename;
    /// `nil` for what is no file here.
    private let inode: UInt64?
    private let modified: Int64?
    /// When anything of the file was changed last, its names too: known of what is delivered.
    private var changed: Int64?

    package init(size: Int64, sha256: [UInt8]?, in file: FileIdentity? = nil) {
        self.size = size
        self.sha256 = sha256
        inode = file?.inode
        modified = file?.modified
    }

    /// The same, once the file has its name.
    func delivered(_ file: FileIdentity) -> VerifiedContent {
        var content = self
        content.changed = file.changed
        return content
    }

    /// Whether nobody can have written to the file since it was delivered, whatever its time says.
    func isUntouched(_ file: FileIdentity) -> Bool { isIn(file) && changed == file.changed }

    /// Whether a file of this size is the one, and was not changed since.
    func isIn(_ file: FileIdentity) -> Bool {
        inode == file.inode && modified == file.modified
    }

    var journal: JSONText {
        .sparse([
            "sha256": .optional(sha256?.hex), "size": .integer(size),
            "inode": .optional(inode.map { Int64(bitPattern: $0) }),
            "modified": .optional(modified), "changed": .optional(changed),
        ])
    }

    init?(_ value: JSONObject) {
        guard let size = value.integer("size"), size >= 0 else { return nil }
        self.size = size
        sha256 = value.bytes("sha256")
        inode = value.integer("inode").map { UInt64(bitPattern: $0) }
        modified = value.integer("modified")
        changed = value.integer("changed")
        guard sha256 != nil || inode != nil else { return nil }
    }
}
