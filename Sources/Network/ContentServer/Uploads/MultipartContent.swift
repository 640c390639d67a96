internal import Base
internal import Contents
internal import HTTPServer
internal import TLS

/// Takes a form apart while it comes (RFC 7578): of a part, only what is read is held.
final class MultipartContent: UploadContent {
    private let body: RequestBody
    /// With the line end before it, which belongs to it (RFC 2046 §5.1.1).
    private let delimiter: [UInt8]
    /// What has come and was not read; the first delimiter has no line before it.
    private var held: [UInt8] = [0x0D, 0x0A]
    private var start = 0
    private let buffer = ByteBuffer(capacity: 65_536)
    /// Of all that came; what is behind the last part too, once it was drained.
    private let hashes: [RunningHash]
    private let digests: [ExpectedDigest]

    /// - Parameter digests: what the whole content must have.
    init(_ body: RequestBody, boundary: [UInt8], digests: [ExpectedDigest]) {
        self.body = body
        self.digests = digests
        hashes = digests.map { RunningHash($0.algorithm) }
        delimiter = [UInt8]("\r\n--".utf8) + boundary
    }

    /// Goes on to the next part, past what was not read of this one; `nil` behind the last.
    ///
    /// Errors: `request-body`.
    func next() async throws(Failure) -> MultipartPart? {
        let skipped = ByteBuffer(capacity: 65_536)
        while try await read(into: skipped) > 0 { skipped.removeAll() }
        start += delimiter.count
        while held.count - start < 2 { try await fill() }
        // Nothing need follow the last delimiter (RFC 2046 §5.1.1).
        if held[start...].starts(with: "--".utf8) { return nil }
        _ = try await upTo([0x0D, 0x0A], byteLimit: 200)
        // The line end of the delimiter counts, so that a head without fields ends too.
        start -= 2
        let head = try await upTo([0x0D, 0x0A, 0x0D, 0x0A], byteLimit: 16_384)
        return MultipartPart((head.dropFirst(2) + [0x0D, 0x0A, 0x0D, 0x0A])[...])
    }

    /// Reads of the part; 0 is its end.
    func read(into buffer: ByteBuffer) async throws(Failure) -> Int {
        while true {
            let end = held.firstIndex(ofRun: delimiter, from: start)
            // What could be the beginning of a delimiter waits for more.
            let safe = end ?? max(start, held.count - delimiter.count + 1)
            let count = min(safe - start, buffer.room)
            if count > 0 {
                buffer.append([UInt8](held[start..<start + count]))
                start += count
                return count
            }
            if end != nil { return 0 }
            try await fill()
        }
    }

    /// Errors: `request-too-large`, `request-body`.
    func collect(byteLimit: Int) async throws(Failure) -> [UInt8] {
        let piece = ByteBuffer(capacity: 16_384)
        var collected: [UInt8] = []
        while try await read(into: piece) > 0 {
            guard piece.count <= byteLimit - collected.count else {
                throw Failure(
                    "request-too-large", party: .client, "a form's fields are too long")
            }
            collected += piece.copy
            piece.removeAll()
        }
        return collected
    }

    func tell(_ fields: [ResponseField]) async {}

    private func upTo(_ mark: [UInt8], byteLimit: Int) async throws(Failure) -> [UInt8] {
        while true {
            if let end = held.firstIndex(ofRun: mark, from: start), end - start <= byteLimit {
                defer { start = end + mark.count }
                return [UInt8](held[start..<end])
            }
            guard held.count - start <= byteLimit else {
                throw Failure(
                    "request-body", party: .client, "form: the head of a part is too long")
            }
            try await fill()
        }
    }

    /// Reads what is behind the last part, and compares the digests of all.
    ///
    /// Errors: `request-body`.
    func check() async throws(Failure) {
        guard !digests.isEmpty else { return }
        while try await receive() {}
        for (hash, digest) in zip(hashes, digests) where hash.finish() != digest.digest {
            throw Failure(
                "request-body", party: .client,
                "the form does not have its \(digest.algorithm.rawValue)")
        }
    }

    /// Reads more into the buffer; `false` at the end.
    private func receive() async throws(Failure) -> Bool {
        buffer.removeAll()
        guard try await body.read(into: buffer) > 0 else { return false }
        for hash in hashes { unsafe buffer.withUnsafeReadable { unsafe hash.update($0) } }
        return true
    }

    private func fill() async throws(Failure) {
        guard try await receive() else {
            throw Failure("request-body", party: .client, "form: it ends within a part")
        }
        held.removeFirst(start)
        start = 0
        held += buffer.copy
    }
}
