internal import Base
internal import Contents

/// How far an upload is, as its journal has it.
package struct UploadState: Sendable, Equatable {
    /// What is sent.
    package let source: Source
    /// The upload resource; `nil` while there is none.
    package var resource: String?
    /// What the origin has confirmed of it, in bytes.
    package var offset: Int64 = 0
    /// The end of what may have been sent to it, in bytes.
    package var sentEnd: Int64 = 0
    /// Whether a whole that must not be sent twice may be at the origin.
    package var isOut = false
    /// Whether the origin was asked what it can do (tus).
    package var isDiscovered = false
    /// Whether the origin of tus compares checksums.
    package var takesChecksums = false
    /// Whether appends have no digests, since they break off or are not understood.
    package var avoidsDigests = false
    package var limits = UploadLimits()
    /// When the upload resource goes, in seconds since 1970; `nil` if nobody said.
    package var expiry: Int64?

    // What is not kept.
    /// The end of what was sent to it: while a request is under way, that is known better than by
    /// `sentEnd`.
    package var reach: Int64 = 0
    /// Whether the file was read to its end for the last request.
    package var isSent = false
    /// Whether the origin has told the offset since the last request that might have changed it.
    package var isOffsetKnown = false

    /// The version of the file that is sent.
    package struct Source: Sendable, Equatable {
        /// In bytes.
        package let size: Int64
        /// In nanoseconds since 1970.
        package let modified: Int64
        package let inode: UInt64
        package let sha256: [UInt8]

        package init(size: Int64, modified: Int64, inode: UInt64, sha256: [UInt8]) {
            self.size = size
            self.modified = modified
            self.inode = inode
            self.sha256 = sha256
        }

        /// Whether a file may be the same version still.
        func matches(_ identity: FileIdentity) -> Bool {
            Int64(clamping: identity.size) == size && identity.modified == modified
                && identity.inode == inode
        }
    }

    package init(_ source: Source) {
        self.source = source
    }

    package var size: Int64 { source.size }
}

extension UploadState {
    var journal: JSONText {
        .sparse([
            "size": .integer(source.size), "modified": .integer(source.modified),
            "inode": .integer(Int64(bitPattern: source.inode)),
            "sha256": .string(source.sha256.hex), "resource": .optional(resource),
            "offset": .integer(offset), "sent": .integer(sentEnd), "out": .boolean(isOut),
            "discovered": .boolean(isDiscovered), "checksums": .boolean(takesChecksums),
            "undigested": .boolean(avoidsDigests), "limits": limits.journal,
            "expiry": .optional(expiry),
        ])
    }

    /// `nil` for what is none.
    init?(_ bytes: [UInt8]) {
        guard let value = JSONObject(bytes), let size = value.integer("size"),
            let modified = value.integer("modified"), let inode = value.integer("inode"),
            let digest = value.bytes("sha256"), size >= 0
        else { return nil }
        self.init(
            Source(
                size: size, modified: modified, inode: UInt64(bitPattern: inode), sha256: digest))
        resource = value.text("resource")
        offset = min(size, max(0, value.integer("offset") ?? 0))
        sentEnd = min(size, max(offset, value.integer("sent") ?? 0))
        reach = sentEnd
        isOut = value.boolean("out") ?? false
        isDiscovered = value.boolean("discovered") ?? false
        takesChecksums = value.boolean("checksums") ?? false
        avoidsDigests = value.boolean("undigested") ?? false
        limits = value.object("limits").map { UploadLimits($0) } ?? limits
        expiry = value.integer("expiry")
    }
}

extension UploadLimits {
    fileprivate var journal: JSONText {
        .sparse([
            "most": .optional(greatest), "least": .optional(least),
            "mostAppend": .optional(greatestAppend), "leastAppend": .optional(leastAppend),
        ])
    }

    fileprivate init(_ value: JSONObject) {
        greatest = value.integer("most")
        least = value.integer("least")
        greatestAppend = value.integer("mostAppend")
        leastAppend = value.integer("leastAppend")
    }
}
