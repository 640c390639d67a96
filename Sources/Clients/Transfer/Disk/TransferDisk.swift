package import Base

/// The file system as transfers use it: every access goes this way, so that a test can lose what was
/// not synced, stop at any point and be full.
package protocol TransferDisk: AnyObject, Sendable {
    /// Opens a regular file for reading and writing; a new one is its owner's alone.
    func open(_ path: String, creating: Bool) throws(DiskFailure) -> any DiskFile
    /// Opens a regular file of somebody's, for reading alone.
    func openSource(_ path: String) throws(DiskFailure) -> any DiskFile
    /// In bytes; `nil` if there is no file.
    func size(of path: String) throws(DiskFailure) -> Int64?
    /// Whether a file has another name as well.
    func isLinked(_ path: String) throws(DiskFailure) -> Bool
    /// What is in a folder; nothing if there is none.
    func names(in folder: String) throws(DiskFailure) -> [String]
    /// Makes a folder and those above it, for their owner alone.
    func makeFolder(_ path: String) throws(DiskFailure)
    /// - Parameter replacing: whether a file that is in the way goes; `exists` if not.
    func rename(_ path: String, to target: String, replacing: Bool) throws(DiskFailure)
    /// Fails where something else than a file is in the way, such as a device.
    func checkReplacing(_ path: String) throws(DiskFailure)
    /// Makes what was created, renamed and removed in a folder last.
    func syncFolder(_ path: String) throws(DiskFailure)
    /// Removes a file or an empty folder; what is not there is no error.
    func remove(_ path: String) throws(DiskFailure)
    /// In bytes, for files below a folder that is there.
    func freeSpace(at folder: String) throws(DiskFailure) -> Int64
    /// Whether calls may take so long that no event loop should wait for them.
    var isSlow: Bool { get }
}

/// An open file. Calls from two threads at once are in order, but for those on the same bytes.
package protocol DiskFile: AnyObject, Sendable {
    /// - Returns: fewer bytes only at the end.
    func read(at offset: Int64, count: Int) throws(DiskFailure) -> [UInt8]
    func write(_ bytes: Span<UInt8>, at offset: Int64) throws(DiskFailure)
    func sync() throws(DiskFailure)
    func truncate(to size: Int64) throws(DiskFailure)
    func size() throws(DiskFailure) -> Int64
    func identity() throws(DiskFailure) -> FileIdentity
    /// Whether it is what stands at a path: who may write to its folder can put another there.
    func isThere(_ path: String) throws(DiskFailure) -> Bool
    /// Takes the file for this process alone, until it is closed.
    ///
    /// - Returns: whether nobody else has it.
    func claim() throws(DiskFailure) -> Bool
}

/// Why the disk did not do what it should.
package struct DiskFailure: Error, Sendable, Equatable {
    package enum Kind: Sendable {
        /// ENOSPC and EDQUOT.
        case full
        /// EIO, and what the system has too little of at the moment.
        case broken
        case missing
        case exists
        /// What is there is a folder or another thing that no file replaces.
        case irregular
        /// A file of a storage class that cannot be opened now.
        case locked
        /// A file of a storage class that is not as it was sealed.
        case unreadable
        /// The two ends of a rename are on different disks.
        case otherDisk
        case other
    }

    package let kind: Kind
    /// What was done to which file, in words for a person.
    package let detail: String

    package init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }

    /// Whether a transfer waits until it is over.
    package var isPassing: Bool { kind == .full || kind == .broken }

    package var failure: Failure {
        let code =
            switch kind {
            case .full: "no-space"
            case .broken: "disk-failed"
            case .exists, .irregular: "file-exists"
            case .locked: "storage-locked"
            case .unreadable: "file-unreadable"
            case .missing, .otherDisk, .other: "file-unwritable"
            }
        let hint: String? =
            switch kind {
            case .exists: "name another file, or replace it: --replace"
            case .irregular: "name another file"
            case .full: "make room: what waits for it goes on by itself"
            default: nil
            }
        return Failure(code, party: .tool, detail, hint: hint)
    }
}
