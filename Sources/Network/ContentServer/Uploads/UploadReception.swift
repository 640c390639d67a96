internal import Base
internal import Contents
internal import HTTPServer
internal import TLS

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Takes the content of one request into an upload.
struct UploadReception {
    let store: UploadStore
    let upload: StoredUpload
    let dialect: UploadDialect
    /// The upload's, which another request ends.
    let turn: UInt64
    /// Where the content begins.
    let start: UInt64
    /// What this content must have; nothing of it counts before that is known.
    var checksums: [ExpectedDigest] = []

    /// Appends what comes, and what came before the client broke off.
    ///
    /// - Returns: the offset behind it; these bytes are on the disk.
    func receive(_ content: some UploadContent) async throws(UploadRefusal) -> UInt64 {
        guard let descriptor = store.openedForAppends(upload) else {
            throw UploadRefusal(UploadStore.removed)
        }
        defer { close(descriptor) }
        let isMarked = try discardUnchecked(in: descriptor)
        let isChecked = !checksums.isEmpty
        if isMarked || isChecked { try await setChecked(isChecked ? start : nil) }
        let hashes = checksums.map { RunningHash($0.algorithm) }
        guard isChecked else { return try await append(content, to: descriptor, hashes) }
        do throws(UploadRefusal) {
            let end = try await append(content, to: descriptor, hashes)
            for (hash, checksum) in zip(hashes, checksums)
            where hash.finish() != checksum.digest {
                throw UploadRefusal(
                    dialect == .tus ? 460 : 400,
                    "the content does not have its \(checksum.algorithm.rawValue); send it again"
                        + " from \(start) on")
            }
            // Told once no start of a server takes them away again.
            try await setChecked(nil)
            do throws(Failure) {
                try upload.accept(turn: turn)
            } catch {
                throw UploadRefusal(error)
            }
            return end
        } catch {
            do throws(UploadRefusal) {
                _ = try discardUnchecked(in: descriptor)
            } catch {
                // Whoever goes on does it.
            }
            throw error
        }
    }

    private func discardUnchecked(in descriptor: Int32) throws(UploadRefusal) -> Bool {
        do throws(Failure) {
            return try upload.discardUnchecked(turn: turn, in: descriptor, of: store)
        } catch {
            throw UploadRefusal(error)
        }
    }

    /// Says in the state file that what is behind `offset` does not count yet; `nil` that all does.
    private func setChecked(_ offset: UInt64?) async throws(UploadRefusal) {
        do throws(Failure) {
            try await besideLoop { [upload, turn] () throws(Failure) in
                try upload.change(turn: turn) { $0.checkedCount = offset }
            }
        } catch {
            throw UploadRefusal(error)
        }
    }

    private func append(
        _ content: some UploadContent, to descriptor: Int32, _ hashes: [RunningHash]
    ) async throws(UploadRefusal) -> UInt64 {
        var offset = start
        var told = start
        var interval = store.limits.interval
        var count = 0
        do throws(UploadRefusal) {
            let buffer = ByteBuffer(capacity: Self.step)
            while try await next(content, buffer) {
                try write(buffer, counts: hashes.isEmpty, to: descriptor)
                for hash in hashes {
                    unsafe buffer.withUnsafeReadable { unsafe hash.update($0) }
                }
                offset += UInt64(buffer.count)
                buffer.removeAll()
                guard offset - told >= interval, dialect.isResumable, hashes.isEmpty
                else { continue }
                try await sync(descriptor)
                told = offset
                count += 1
                // Clients and proxies take so many interim responses to one request only.
                if count.isMultiple(of: Self.intervalCount) { interval *= 2 }
                await content.tell(
                    [ResponseField("Upload-Offset", String(offset))] + dialect.marks)
            }
        } catch {
            // What came counts all the same: the client is told when it asks.
            try await sync(descriptor)
            throw error
        }
        try await sync(descriptor)
        return offset
    }

    private func next(
        _ content: some UploadContent, _ buffer: ByteBuffer
    ) async throws(UploadRefusal) -> Bool {
        do throws(Failure) {
            return try await content.read(into: buffer) > 0
        } catch {
            throw UploadRefusal(400, error.detail)
        }
    }

    private func write(
        _ buffer: ByteBuffer, counts: Bool, to descriptor: Int32
    ) throws(UploadRefusal) {
        do throws(StoredUpload.WriteEnd) {
            try unsafe buffer.withUnsafeReadable { (bytes) throws(StoredUpload.WriteEnd) in
                try unsafe upload.append(
                    bytes, turn: turn, counts: counts, to: descriptor, of: store)
            }
        } catch {
            switch error {
            case .failed(let failure): throw UploadRefusal(failure)
            case .tooLong:
                let length = upload.facts.record.length ?? 0
                guard dialect.isResumable else {
                    throw UploadRefusal(413, "the upload's length is \(length), and more came")
                }
                // It may have been completed while this was on its way.
                store.remove(upload, turn: turn, ifIncomplete: true)
                guard !upload.facts.record.isComplete else { throw .completed }
                throw .inconsistentLength(
                    "the upload's length is \(length), and more came: it was removed")
            }
        }
    }

    private func sync(_ descriptor: Int32) async throws(UploadRefusal) {
        do throws(Failure) {
            try await besideLoop { () throws(Failure) in try UploadStore.sync(descriptor) }
        } catch {
            throw UploadRefusal(error)
        }
    }

    /// In bytes.
    private static let step = 65_536
    /// After so many words of how far it is, they come half as often: 8 GiB need 64 of them.
    private static let intervalCount = 8
}

/// Where the content of an upload comes from.
protocol UploadContent {
    func read(into buffer: ByteBuffer) async throws(Failure) -> Int
    /// Sends a 104 with these fields.
    func tell(_ fields: [ResponseField]) async
}

extension RequestBody: UploadContent {
    func tell(_ fields: [ResponseField]) async { await inform(104, fields) }
}
