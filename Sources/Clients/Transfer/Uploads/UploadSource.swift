internal import Base
internal import HTTPClient
internal import TLS

/// The file that an upload sends, which has to be the same version from the first byte to the last.
///
/// `@unchecked Sendable`: used on the service's loop.
final class UploadSource: @unchecked Sendable {
    private let file: any DiskFile
    private let path: String
    let identity: FileIdentity
    /// Why reading failed.
    private(set) var diskFailure: DiskFailure?

    /// Errors: `source-unreadable`.
    init(_ transfer: RunningTransfer) throws(Failure) {
        path = transfer.task.file ?? ""
        do throws(DiskFailure) {
            file = try transfer.disk.openSource(path)
            identity = try file.identity()
        } catch {
            throw Failure("source-unreadable", party: .client, error.detail)
        }
    }

    /// The file's name, without its folder.
    var name: String { Files.name(of: path) }

    var size: Int64 { Int64(clamping: identity.size) }

    /// Reads it whole, unless this process has done so.
    ///
    /// - Parameter known: what it was before.
    /// - Returns: what it is; `nil` if the task was stopped.
    ///
    /// Errors: `source-changed`, `source-unreadable`.
    func verified(
        _ known: UploadState.Source?, for transfer: RunningTransfer
    ) async throws(Failure) -> UploadState.Source? {
        if let known, !known.matches(identity) { throw changed }
        if let known, transfer.verifiedSource == identity { return known }
        do throws(DiskFailure) {
            let digests = try await FileDigests.of(file, 0..<size, [.sha256], for: transfer)
            guard let digest = digests?[.sha256] else { return nil }
            guard try file.identity() == identity, known == nil || known?.sha256 == digest else {
                throw DiskFailure(.unreadable, "")
            }
            transfer.verifiedSource = identity
            return UploadState.Source(
                size: size, modified: identity.modified, inode: identity.inode, sha256: digest)
        } catch {
            guard !error.detail.isEmpty else { throw changed }
            throw Failure("source-unreadable", party: .client, error.detail)
        }
    }

    /// Of a part; `nil` if the task was stopped.
    func digest(
        _ range: Range<Int64>, by algorithm: DigestAlgorithm = .sha256,
        for transfer: RunningTransfer
    ) async throws(DiskFailure) -> [UInt8]? {
        try await FileDigests.of(file, range, [algorithm], for: transfer)?[algorithm]
    }

    var changed: Failure {
        Failure(
            "source-changed", party: .client,
            "\(path) has changed since its upload began",
            hint: "upload it again, and leave it as it is until it has ended")
    }

    // MARK: The content

    /// What is sent: the range of the file, with what stands around it in a form.
    ///
    /// - Parameters:
    ///   - whole: the digest of the whole, if this is it.
    ///   - note: called with the end of what was read, in bytes of the file.
    func content(
        _ range: Range<Int64>, in frame: FormFrame? = nil, whole: [UInt8]? = nil,
        _ note: @escaping (Int64) -> Void
    ) -> NetworkRequest.Content {
        let before = frame?.before ?? []
        let after = frame?.after ?? []
        let count = range.upperBound - range.lowerBound
        let size = count + Int64(before.count + after.count)
        guard size > 0 else { return .bytes([]) }
        let digest = whole.map { PieceDigest($0, of: count) }
        return .pieces(size: size) { [self] offset in
            if offset < before.count { return .success(Array(before[Int(offset)...])) }
            let place = offset - Int64(before.count)
            guard place < count else {
                return .success(Array(after.dropFirst(Int(place - count))))
            }
            let piece = read(range.lowerBound + place, range.upperBound, digest, place)
            if case .success(let bytes) = piece {
                note(range.lowerBound + place + Int64(bytes.count))
            }
            return piece
        }
    }

    /// - Parameter offset: of the piece, in bytes of the range.
    private func read(
        _ place: Int64, _ end: Int64, _ digest: PieceDigest?, _ offset: Int64
    ) -> Result<[UInt8], Failure> {
        do throws(DiskFailure) {
            let piece = try file.read(at: place, count: Int(min(Self.pieceSize, end - place)))
            guard !piece.isEmpty else { return .failure(changed) }
            guard place + Int64(piece.count) == end else {
                digest?.update(piece, at: offset)
                return .success(piece)
            }
            // The last piece goes out only if all of them were of one version.
            digest?.update(piece, at: offset)
            guard try file.identity() == identity, digest?.isRight ?? true else {
                return .failure(changed)
            }
            return .success(piece)
        } catch {
            diskFailure = error
            return .failure(error.failure)
        }
    }

    /// In bytes.
    private static let pieceSize: Int64 = 1 << 17
}

/// The digest of a content while it is read, from its start on each time.
private final class PieceDigest {
    private let expected: [UInt8]
    private let size: Int64
    private var hash = RunningHash(.sha256)
    private var end: Int64 = 0

    init(_ expected: [UInt8], of size: Int64) {
        self.expected = expected
        self.size = size
    }

    func update(_ piece: [UInt8], at offset: Int64) {
        if offset == 0 {
            hash = RunningHash(.sha256)
            end = 0
        }
        guard offset == end else { return }
        hash.update(piece)
        end += Int64(piece.count)
    }

    /// Once all of it was read; asked once.
    var isRight: Bool { end == size && hash.finish() == expected }
}
